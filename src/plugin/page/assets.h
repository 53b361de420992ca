// Assets: the style and the script of a page, from page.css and page.js beside this file.
#pragma once

#include "plugin/page/html.h"

namespace cdom::plugin::page {

extern const Literal kStyle;
extern const Literal kScript;
// "sha256-…" of the script, by which the page's Content-Security-Policy lets it run, and no other.
extern const Literal kScriptHash;

}  // namespace cdom::plugin::page
