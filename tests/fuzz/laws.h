// What every target uses: a law that ends the process when it is broken, and a file that is bytes.
#pragma once

#include <string>
#include <string_view>

namespace cdom::fuzz {

// Ends the process, as a crash does, unless it holds.
void require(bool holds, const char* law);

// Whether another reader takes it for JSON. That one takes a zero byte for the end of a text.
bool is_json(std::string_view bytes);

// A file in memory with these bytes, for as long as it lives.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const;

 private:
  int file_;
};

// The targets, by the files they stand in.
void read_json(std::string_view bytes);  // text_targets.cpp
void read_answers(std::string_view bytes);
void read_config(std::string_view bytes);
void read_node_list(std::string_view bytes);
void read_yaml(std::string_view bytes);
void read_kubeconfig(std::string_view bytes);
void read_domains(std::string_view bytes);  // object_targets.cpp
void read_reports(std::string_view bytes);
void read_resources(std::string_view bytes);
void read_builtins(std::string_view bytes);
void read_protobuf(std::string_view bytes);
void follow_server(std::string_view bytes);    // informer_target.cpp
void read_imex_lines(std::string_view bytes);  // node_targets.cpp
void read_imex_tool(std::string_view bytes);
void read_state(std::string_view bytes);
void read_node_files(std::string_view bytes);
void take_http(std::string_view bytes);     // http_target.cpp
void read_bundles(std::string_view bytes);  // bundle_target.cpp

}  // namespace cdom::fuzz
