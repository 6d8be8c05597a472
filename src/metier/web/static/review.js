// Conflicts: a choice fills the text, and typing makes it one's own.
"use strict";
(() => {
  document.querySelectorAll("fieldset.region").forEach((region) => {
    const text = region.querySelector("textarea");
    const { ours, theirs } = region.dataset;
    const texts = { ours, theirs, both: ours + theirs };
    region.addEventListener("change", (event) => {
      if (event.target.type === "radio" && event.target.value in texts) text.value = texts[event.target.value];
    });
    text.addEventListener("input", () => {
      region.querySelector("input[value=text]").checked = true;
    });
  });
})();
