// Finds nodes, cliques and domains by a part of their names; all else works without a script.
(() => {
  const form = document.getElementById("find");
  const query = document.getElementById("q");
  const found = document.getElementById("found");
  let text = "", hits = [], at = -1;

  const show = (hit) => {
    for (const old of document.querySelectorAll(".hit")) old.classList.remove("hit");
    for (let part = hit.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    const target = hit.closest("summary") || hit.closest("li") || hit.closest(".bare");
    target.classList.add("hit");
    // The focus stays in the field: Enter is for the next one.
    target.scrollIntoView({ block: "center" });
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = query.value.trim().toLowerCase();
    if (!wanted) return;
    if (wanted !== text) {
      text = wanted;
      hits = [...document.querySelectorAll(".part > summary h3, .bare h3, .nodes b")].filter((e) => e.textContent.toLowerCase().includes(text));
      at = -1;
    }
    const nothing = document.querySelector(".more") ? "nothing; not all is on this page" : "nothing";
    found.textContent = hits.length === 0 ? nothing : `${(at = (at + 1) % hits.length) + 1} of ${hits.length}`;
    if (hits.length > 0) show(hits[at]);
  });
  form.hidden = false;

  // A link to a part opens it, where the browser does not do so by itself.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const part = target && target.closest("details");
    if (!part) return;
    part.open = true;
    part.querySelector("summary").focus({ preventScroll: true });
    part.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("load", reveal);
})();
