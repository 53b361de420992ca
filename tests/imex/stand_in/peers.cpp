#include "imex/stand_in/peers.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::stand_in {

using base::cat;
using base::Duration;

namespace {

void keep_earlier(std::optional<Duration>& due, const std::optional<Duration>& other) {
  if (other && (!due || *other < *due)) due = other;
}

}  // namespace

Peers::Peers(const Parameters& parameters, const DaemonLog& log, std::size_t own_index,
             std::string instance, Connected on_connect)
    : parameters_(parameters),
      log_(log),
      own_index_(own_index),
      instance_(std::move(instance)),
      table_(base::join(parameters.table, ",")),
      on_connect_(std::move(on_connect)),
      credentials_(parameters),
      listener_(Socket::listen(parameters.address, parameters.server_port)),
      links_(parameters.table.size()) {
  for (Link& link : links_) link.attempt_at = Duration::zero();
  links_[own_index_].attempt_at.reset();
}

void Peers::add_to(std::vector<pollfd>& polled) const {
  const auto add = [&](const Socket& socket, short events) {
    if (socket) polled.push_back({.fd = socket.fd(), .events = events, .revents = 0});
  };
  add(listener_, POLLIN);
  for (const Guest& guest : guests_) add(guest.socket, POLLIN);
  for (const Link& link : links_) {
    add(link.out, link.is_dialling ? POLLOUT : POLLIN);
    add(link.in, POLLIN);
  }
}

void Peers::serve(const std::vector<pollfd>& polled, Duration now) {
  for (const pollfd& one : polled) {
    if (one.revents == 0) continue;
    if (one.fd == listener_.fd()) {
      while (Socket guest = listener_.accept()) guests_.push_back({std::move(guest), now});
      continue;
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].out.fd() == one.fd) read_out(i, now);
      if (links_[i].in.fd() == one.fd) read_in(i, now);
    }
    guests_.remove_if(
        [&](Guest& guest) { return guest.socket.fd() == one.fd && !greet(guest, now); });
  }
}

void Peers::read_out(std::size_t index, Duration now) {
  Link& link = links_[index];
  if (link.is_dialling) {
    if (!link.out.is_connected()) return fail(link, 'N', now);
    link.is_dialling = false;
    link.out.send(cat("IMEX ", parameters_.version, " ", own_index_, " ", index, " ", instance_,
                      " ", table_, " ", credentials_.proof_of(instance_, Credentials::Role::Client),
                      "\n"));
    return;
  }
  const bool goes_on = link.out.receive();
  while (const auto line = link.out.line()) {
    if (line->starts_with("OK ")) {
      const std::vector<std::string> words = base::split(*line, ' ');
      if (words.size() != 3 || is_stranger(words[2], words[1], Credentials::Role::Client))
        return fail(link, 'N', now);
      link.is_up = true;
      meet(index, words[1], now);
    } else if (*line == "MAP" || *line == "VERSION") {
      return fail(link, line->front(), now);
    } else {
      hear(link, link.out, *line, now);
    }
    if (!link.out) return;
  }
  if (goes_on) return;
  const bool was_up = std::exchange(link.is_up, false);
  link.out = {};
  if (!was_up) return fail(link, 'N', now);
  if (!is_live(link)) link.lost_at = now + parameters_.reset_notice;
}

void Peers::read_in(std::size_t index, Duration now) {
  Link& link = links_[index];
  const bool goes_on = link.in.receive();
  while (const auto line = link.in.line()) {
    hear(link, link.in, *line, now);
    if (!link.in) return;
  }
  if (goes_on) return;
  link.in = {};
  if (!is_live(link)) link.lost_at = now + parameters_.reset_notice;
}

bool Peers::is_stranger(const std::string& proof, const std::string& instance,
                        Credentials::Role own) const {
  const std::string fault = credentials_.fault_of(proof, instance, own);
  if (!fault.empty()) {
    log_.error(cat("refused a peer: ", fault));
  }
  return !fault.empty();
}

void Peers::hear(Link& link, const Socket& socket, const std::string& line, Duration now) {
  link.heard = now;
  if (line == "PING") socket.send("PONG\n");
  if (line != "BYE") return;
  link.in = {};
  fail(link, 'D', now);
}

bool Peers::greet(Guest& guest, Duration now) {
  const bool goes_on = guest.socket.receive();
  const auto line = guest.socket.line();
  if (!line) return goes_on;
  const std::vector<std::string> words = base::split(*line, ' ');
  if (words.size() != 7 || words[0] != "IMEX") return false;
  if (is_stranger(words[6], words[4], Credentials::Role::Server)) return false;
  const auto caller = static_cast<std::size_t>(std::atoi(words[2].c_str()));
  if (words[1] != parameters_.version) {
    guest.socket.send("VERSION\n");
    return false;
  }
  // "Peers compare their whole node map" (IMEX guide, deployment).
  if (words[5] != table_ || words[3] != std::to_string(own_index_) || caller >= links_.size() ||
      caller == own_index_) {
    guest.socket.send("MAP\n");
    return false;
  }
  guest.socket.send(cat("OK ", instance_, " ",
                        credentials_.proof_of(instance_, Credentials::Role::Server), "\n"));
  Link& link = links_[caller];
  link.in = std::move(guest.socket);
  link.heard = now;
  if (parameters_.incoming_connects) meet(caller, words[4], now);
  return false;
}

void Peers::meet(std::size_t index, const std::string& instance, Duration now) {
  Link& link = links_[index];
  if (link.letter != 'C') {
    log_.info(cat("Connection established to node ", index, " with name ", parameters_.table[index],
                  ". Number of times connected: ", ++link.meetings));
  }
  link.letter = 'C';
  link.instance = instance;
  link.failures = 0;
  link.heard = link.pinged = now;
  link.lost_at.reset();
  link.clean_at.reset();
  link.attempt_at.reset();
  on_connect_(index);
}

void Peers::fail(Link& link, char letter, Duration now) {
  link.out = {};
  link.is_dialling = link.is_up = false;
  if (link.in && letter != 'D') {
    link.attempt_at.reset();
    return;
  }
  // Who was connected once is lost, until it is back.
  const bool was_connected = link.letter == 'C' || link.letter == 'R';
  if (letter == 'N' && was_connected) {
    if (link.letter == 'C') return lose(link, now);
    letter = 'R';
  }
  if (letter == 'N' && link.letter == 'D') letter = 'D';
  link.letter = letter;
  link.lost_at.reset();
  const auto& steps = parameters_.back_off;
  link.attempt_at = now + steps[std::min(link.failures, steps.size() - 1)];
  ++link.failures;
}

void Peers::lose(Link& link, Duration now) {
  // With the moment, in nanoseconds since 1970.
  const auto moment = std::chrono::system_clock::now().time_since_epoch();
  log_.error(
      cat("node disconnect: ", parameters_.table[static_cast<std::size_t>(&link - links_.data())],
          " at ", std::chrono::nanoseconds(moment).count()));
  link.out = {};
  link.in = {};
  link.is_dialling = link.is_up = false;
  link.letter = 'R';
  link.lost_at.reset();
  link.attempt_at = now;
  if (parameters_.grace_seconds >= 0) {
    link.clean_at = now + std::chrono::seconds(parameters_.grace_seconds);
  }
}

void Peers::dial(std::size_t index, Duration now) {
  Link& link = links_[index];
  link.attempt_at.reset();
  const std::string address = address_of(parameters_.table[index], parameters_.hosts_file);
  if (address.empty()) return fail(link, link.letter == 'C' ? 'N' : 'I', now);
  link.out = Socket::connect(parameters_.address, address, parameters_.server_port);
  if (!link.out) return fail(link, 'N', now);
  link.is_dialling = true;
  link.heard = now;
}

void Peers::step(Duration now) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    if (link.lost_at && *link.lost_at <= now) lose(link, now);
    if (link.clean_at && *link.clean_at <= now) {
      link.clean_at.reset();
      if (link.letter == 'R') link.letter = 'D';
    }
    if (link.attempt_at && *link.attempt_at <= now) dial(i, now);
    if (!link.out && !link.in) continue;
    if (now - link.heard >= parameters_.silence_notice) {
      if (is_live(link)) {
        lose(link, now);
      } else {
        fail(link, 'N', now);
      }
    } else if (is_live(link) && now - link.pinged >= parameters_.silence_notice / 4) {
      link.pinged = now;
      (link.is_up ? link.out : link.in).send("PING\n");
    }
  }
  guests_.remove_if(
      [&](const Guest& guest) { return now - guest.since >= parameters_.silence_notice; });
}

std::optional<Duration> Peers::next_due() const {
  std::optional<Duration> due;
  for (const Link& link : links_) {
    keep_earlier(due, link.lost_at);
    keep_earlier(due, link.clean_at);
    keep_earlier(due, link.attempt_at);
    if (!link.out && !link.in) continue;
    keep_earlier(due, link.heard + parameters_.silence_notice);
    if (is_live(link)) keep_earlier(due, link.pinged + parameters_.silence_notice / 4);
  }
  for (const Guest& guest : guests_) keep_earlier(due, guest.since + parameters_.silence_notice);
  return due;
}

void Peers::redial(Duration now) {
  credentials_.reload();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (i == own_index_) continue;
    Link& link = links_[i];
    link.out = {};
    link.is_dialling = link.is_up = false;
    link.lost_at.reset();
    link.failures = 0;
    link.attempt_at = now;
  }
}

void Peers::say_goodbye() {
  for (const Link& link : links_) {
    if (link.is_up) link.out.send("BYE\n");
    if (link.in) link.in.send("BYE\n");
  }
}

}  // namespace cdom::stand_in
