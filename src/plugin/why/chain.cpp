#include "plugin/why/chain.h"

#include "compute_domain/base/text.h"

namespace cdom::plugin {

Chain::Chain(std::string subject, std::vector<std::string> names) {
  report_.subject = std::move(subject);
  report_.links.reserve(names.size());
  for (std::string& name : names) {
    report_.links.push_back({std::move(name), Link::State::NotReached, ""});
  }
}

Link& Chain::next() { return report_.links.at(reached_++); }

bool Chain::holds(std::string text) {
  Link& link = next();
  link.state = Link::State::Good;
  link.text = std::move(text);
  return true;
}

bool Chain::stops(std::string text, std::string cause, std::string remedy, std::string command) {
  Link& link = next();
  link.state = Link::State::Broken;
  link.text = std::move(text);
  report_.cause = sentence(std::move(cause));
  report_.remedy = sentence(std::move(remedy));
  report_.command = std::move(command);
  return false;
}

bool Chain::stops_for(core::Reason reason, std::string text, const std::string& message,
                      std::string command) {
  const core::ReasonRow& row = reason.row();
  return stops(std::move(text),
               message.empty() ? std::string(row.means) : base::cat(row.means, ": ", message),
               std::string(row.next), std::move(command));
}

std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  if (!text.ends_with('.') && !text.ends_with('?')) text += '.';
  return text;
}

}  // namespace cdom::plugin
