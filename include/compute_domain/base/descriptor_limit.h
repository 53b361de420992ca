// How many files a process may have open.
#pragma once

namespace cdom::base {

// Lets this process, and those that it starts from now on, open as many files as the system allows
// it: raises the soft limit to the hard one. The soft one is often 1,024, for programs that use
// select(2), which nothing here does.
void raise_descriptor_limit();

}  // namespace cdom::base
