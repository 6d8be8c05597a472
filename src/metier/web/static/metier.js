// What the pages need beyond plain links and forms: news, keys, and output as it comes.
"use strict";
(() => {
  const news = document.getElementById("news");
  let dirty = false;
  document.addEventListener("input", (event) => {
    if (event.target.form && event.target.form.method === "post") dirty = true;
  });

  // --- news: one tab listens for all, since a browser keeps few connections to one host
  const channel = "BroadcastChannel" in window ? new BroadcastChannel("metier") : null;
  let renewing = 0;
  // a search under way has the last word: what was asked for before it may come after it, and is old then
  let searching = 0;
  document.addEventListener("htmx:beforeRequest", () => { searching += 1; });
  document.addEventListener("htmx:afterRequest", () => { searching = Math.max(0, searching - 1); });
  // each form has a number of its own, and what somebody opened stays open: neither is news
  const shownBy = (part) => part.innerHTML.replace(/name="form_key" value="[^"]*"/g, "");
  const known = new WeakMap();  // each part as the server wrote it, without what was opened or loaded in it since
  const note = () => document.querySelectorAll("[data-live]").forEach((part) => { if (!known.has(part)) known.set(part, shownBy(part)); });
  note();
  document.addEventListener("htmx:afterSwap", note);
  const keepOpen = (part, fresh) => {
    const was = [...part.querySelectorAll("details")];
    fresh.querySelectorAll("details").forEach((one, at) => {
      if (was[at] && was[at].firstElementChild.textContent === one.firstElementChild.textContent) one.open = was[at].open;
    });
  };
  // who began to read these bytes decides about no others: new ones are shown, and no form is about them before the page is loaded again
  const bytesOf = (root) => { const one = root.querySelector("[data-bytes]"); return one && one.dataset.bytes; };
  const read = bytesOf(document);
  const forbid = (fresh) => {
    fresh.querySelectorAll("input[name=seen]").forEach((one) => { one.value = ""; });
    fresh.querySelectorAll("[data-stale]").forEach((one) => { one.hidden = false; });
  };
  const sameLink = (one, fresh) => one.matches("a[href]") && [...fresh.querySelectorAll("a[href]")].find((other) => other.getAttribute("href") === one.getAttribute("href"));
  const renew = () => {
    if (dirty || document.querySelector("dialog[open]")) {
      if (news) news.hidden = false;
      return;
    }
    clearTimeout(renewing);
    renewing = setTimeout(async () => {
      const parts = document.querySelectorAll("[data-live]");
      if (!parts.length || document.hidden) { stale = document.hidden; return; }
      if (searching) { renew(); return; }
      const where = location.href;
      let answer;
      try { answer = await fetch(where, { headers: { accept: "text/html" } }); } catch { return; }
      if (!answer.ok) { if (news) news.hidden = false; return; }
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (searching || location.href !== where) { renew(); return; }
      const found = fresh.querySelectorAll("[data-live]");
      if (dirty || found.length !== parts.length) { if (news) news.hidden = false; return; }
      const changed = [...parts].map((part, at) => [part, found[at], shownBy(found[at])]).filter(([part, , told]) => known.get(part) !== told);
      const active = document.activeElement;
      const holder = changed.find(([part]) => part.contains(active));
      const link = holder && sameLink(active, holder[1]);
      if (holder && !link) { if (news) news.hidden = false; return; }  // all of it or nothing: what is read and what is decided belong together
      if (bytesOf(fresh) !== read) forbid(fresh);
      for (const [part, one, told] of changed) {
        known.set(one, told);
        keepOpen(part, one);
        part.replaceWith(one);
        if (window.htmx) window.htmx.process(one);
      }
      if (link) link.focus();
      document.dispatchEvent(new CustomEvent("metier:renewed"));
    }, 150);
  };
  let stale = false;
  document.addEventListener("visibilitychange", () => { if (!document.hidden && stale) { stale = false; renew(); } });
  if (channel) channel.onmessage = renew;
  const listen = () => new Promise((resolve) => {
    const source = new EventSource("/events");
    const tell = () => { if (channel) channel.postMessage("news"); renew(); };
    for (const name of ["skills", "fact", "job", "review"]) source.addEventListener(name, tell);
    let first = null;
    source.addEventListener("state", (event) => {
      if (first !== null && first !== event.data) tell();
      first = event.data;
      const shown = document.body.dataset.state;
      if (shown && shown !== event.data) { document.body.dataset.state = event.data; renew(); }
    });
    addEventListener("pagehide", () => { source.close(); resolve(); });
  });
  if ("EventSource" in window && document.body.dataset.state !== undefined) {
    if (navigator.locks) navigator.locks.request("metier-news", listen); else listen();
  }

  // --- keys
  const links = () => [...document.querySelectorAll("a.skill")];
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    const box = document.getElementById("q");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      if (box) { box.focus(); box.select(); } else location.href = "/skills#q";
      return;
    }
    const rows = links();
    const at = rows.indexOf(document.activeElement);
    const free = !typing || event.target === box;
    if (event.key === "ArrowDown" && free && rows.length && (at >= 0 || event.target === box || event.target === document.body)) {
      event.preventDefault();
      rows[Math.min(at + 1, rows.length - 1)].focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      event.preventDefault();
      if (at === 0 && box) box.focus(); else rows[Math.max(at - 1, 0)].focus();
    } else if (event.key === "Enter" && event.target === box && rows.length) {
      event.preventDefault();
      rows[0].click();
    } else if (event.key === "Escape" && event.target === box) {
      box.value = "";
      box.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  // rows that come late do not take the focus away from the list
  let focused = null;
  document.addEventListener("htmx:beforeSwap", () => {
    const one = document.activeElement;
    focused = one && one.matches("a.skill") ? one.getAttribute("href") : null;
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (focused === null || document.activeElement !== document.body) return;
    const rows = links();
    const same = rows.find((one) => one.getAttribute("href") === focused) || rows[0];
    if (same) same.focus();
  });
  if (location.hash === "#q") { const box = document.getElementById("q"); if (box) box.focus(); }

  // --- output as it comes
  const pre = document.querySelector("pre[data-stream]");
  if (pre) (async () => {
    const answer = await fetch(pre.dataset.stream);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      pre.append(value);
      pre.scrollTop = pre.scrollHeight;
    }
    if (!pre.textContent) pre.closest("section").hidden = true;
    renew();
  })();
})();
