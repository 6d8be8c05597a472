// Conflicts: a choice fills the text, and typing makes it one's own.
"use strict";
(() => {
  document.addEventListener("change", (event) => {
    const region = event.target.closest("fieldset.region");
    if (!region || event.target.type !== "radio") return;
    const { ours, theirs } = region.dataset;
    const texts = { ours, theirs, both: ours + theirs };
    if (event.target.value in texts) region.querySelector("textarea").value = texts[event.target.value];
  });
  document.addEventListener("input", (event) => {
    const region = event.target.closest("fieldset.region");
    if (region && event.target.matches("textarea")) region.querySelector("input[value=text]").checked = true;
  });
})();
