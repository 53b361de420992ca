#include "sandbox/apiserver/storage/list_page.h"

namespace cdom::sandbox::server {

ListPage page_of(const Snapshot& snapshot, const PageWish& wish,
                 const std::function<bool(const Object&)>& selects) {
  ListPage page;
  snapshot.walk(wish.start, wish.prefix, [&](const std::string& key, const Object& object) {
    if (!selects(object)) return true;
    if (wish.limit == 0 || page.objects.size() < wish.limit) {
      page.objects.push_back(object);
      return true;
    }
    page.next = key;
    return false;
  });
  if (!page.next.empty()) page.behind = snapshot.count(page.next, wish.prefix);
  return page;
}

}  // namespace cdom::sandbox::server
