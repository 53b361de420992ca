#include "compute_domain/base/argument_list.h"

namespace cdom::base {

std::vector<char*> argument_list(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): none of those calls writes to them
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace cdom::base
