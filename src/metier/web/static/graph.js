// Draws the map of skills: points that can be moved over, chosen by keys, and opened.
"use strict";
(() => {
  const figure = document.getElementById("graph");
  const canvas = document.getElementById("map");
  const told = document.getElementById("map-told");
  const choice = document.getElementById("colour");
  if (!figure || !canvas.getContext) return;
  const pen = canvas.getContext("2d");
  const SIDE = 1000, REACH = 14, MIN_ZOOM = 1, MAX_ZOOM = 40, MAX_NAMED = 80;
  let data = { points: [], lines: [] };
  let zoom = 1, left = 0, top = 0;   // what part of the map is seen, in units of the map
  let chosen = -1, asked = false, waiting = 0, shownKey = null;

  const inks = () => {
    const found = getComputedStyle(document.documentElement);
    const ink = (name) => found.getPropertyValue(name).trim();
    return {
      verdict: [ink("--good"), ink("--warn"), ink("--bad"), ink("--soft")],
      use: [ink("--link"), ink("--good"), ink("--warn"), ink("--soft")],
      ink: ink("--ink"), paper: ink("--paper"), line: ink("--link"), sheet: ink("--sheet"),
    };
  };
  const scale = () => ({ x: canvas.clientWidth * zoom / SIDE, y: canvas.clientHeight * zoom / SIDE });
  const at = (point) => {
    const by = scale();
    return [(point[0] - left) * by.x, (point[1] - top) * by.y];
  };

  // --- drawing
  const mark = (kind, x, y, size) => {
    pen.beginPath();
    if (kind === 1) { pen.moveTo(x, y - size * 1.2); pen.lineTo(x + size * 1.1, y + size); pen.lineTo(x - size * 1.1, y + size); pen.closePath(); }
    else if (kind === 2) pen.rect(x - size, y - size, 2 * size, 2 * size);
    else pen.arc(x, y, size, 0, 7);
    if (kind === 3) pen.stroke(); else pen.fill();
  };
  const draw = () => {
    asked = false;
    const ratio = window.devicePixelRatio || 1;
    const wide = Math.round(canvas.clientWidth * ratio), high = Math.round(canvas.clientHeight * ratio);
    if (!wide || !high) return;
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = inks();
    pen.fillStyle = colours.sheet;
    pen.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    pen.strokeStyle = colours.line;
    pen.globalAlpha = .55;
    pen.lineWidth = 1.5;
    pen.beginPath();
    for (const [one, other] of data.lines) {
      pen.moveTo(...at(data.points[one]));
      pen.lineTo(...at(data.points[other]));
    }
    pen.stroke();
    const by = choice.value === "use" ? "use" : "verdict";
    const place = by === "use" ? 5 : 4;
    const size = Math.min(7, Math.max(2.2, 90 / Math.sqrt(data.points.length + 1)) * Math.sqrt(zoom));
    pen.globalAlpha = .85;
    pen.lineWidth = 1.3;
    for (const point of data.points) {
      const [x, y] = at(point);
      if (x < -9 || y < -9 || x > canvas.clientWidth + 9 || y > canvas.clientHeight + 9) continue;
      const kind = point[place];
      pen.fillStyle = pen.strokeStyle = colours[by][kind];
      mark(kind, x, y, size);
    }
    pen.globalAlpha = 1;
    name(data.points.map(at).map(([x, y], number) => [x, y, data.points[number][2]]).filter(([x, y]) => x > 0 && y > 0 && x < canvas.clientWidth && y < canvas.clientHeight), colours, size);
    if (chosen >= 0) label(data.points[chosen], colours, size);
  };
  // where few points are seen each has its name, as far as none stands on another
  const name = (seen, colours, size) => {
    if (seen.length > MAX_NAMED) return;
    const taken = seen.map(([x, y]) => [x - size, y - size, x + size, y + size]);
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = colours.ink;
    for (const [x, y, text] of seen) {
      const word = text.length > 28 ? `${text.slice(0, 27)}…` : text;
      const width = pen.measureText(word).width;
      for (const from of [x + size + 4, x - size - 4 - width]) {
        const box = [from, y - 7, from + width, y + 7];
        if (box[0] < 2 || box[2] > canvas.clientWidth - 2 || taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
        pen.fillText(word, from, y + 4);
        taken.push(box);
        break;
      }
    }
  };
  const label = (point, colours, size) => {
    const [x, y] = at(point);
    pen.strokeStyle = colours.ink;
    pen.lineWidth = 2;
    pen.beginPath(); pen.arc(x, y, size + 4, 0, 7); pen.stroke();
    pen.font = "14px system-ui, sans-serif";
    const width = Math.min(pen.measureText(point[2]).width, canvas.clientWidth - 20);
    const from = Math.max(4, Math.min(x - width / 2 - 6, canvas.clientWidth - width - 16));
    const under = y > 34 ? y - size - 30 : y + size + 8;
    pen.fillStyle = colours.ink;
    pen.fillRect(from, under, width + 12, 22);
    pen.fillStyle = colours.paper;
    pen.fillText(point[2], from + 6, under + 16, width);
  };
  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(draw); } };

  // --- choosing
  const choose = (number, aloud) => {
    if (number === chosen) return;
    chosen = number;
    canvas.classList.toggle("pointing", number >= 0);
    if (number < 0) told.textContent = "";
    else {
      const point = data.points[number];
      const text = `${point[2]}: ${data.verdicts[point[4]]}, last used: ${data.uses[point[5]]}`;
      if (aloud || told.textContent !== text) told.textContent = text;
    }
    ask();
  };
  const nearest = (x, y) => {
    let best = -1, least = REACH * REACH;
    data.points.forEach((point, number) => {
      const [px, py] = at(point);
      const far = (px - x) ** 2 + (py - y) ** 2;
      if (far < least) { least = far; best = number; }
    });
    return best;
  };
  const towards = (dx, dy) => {
    const by = scale();
    const from = chosen >= 0 ? data.points[chosen] : [left + SIDE / zoom / 2, top + SIDE / zoom / 2];
    let best = -1, least = Infinity;
    data.points.forEach((point, number) => {
      if (number === chosen) return;
      const x = (point[0] - from[0]) * by.x, y = (point[1] - from[1]) * by.y;
      const along = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (along <= 0 || aside > along * 1.5) return;
      const far = along + 2 * aside;
      if (far < least) { least = far; best = number; }
    });
    if (best >= 0) { choose(best, true); bringIn(); }
  };
  const bringIn = () => {
    const point = data.points[chosen], seen = SIDE / zoom, edge = seen * .08;
    if (point[0] < left + edge || point[0] > left + seen - edge) left = point[0] - seen / 2;
    if (point[1] < top + edge || point[1] > top + seen - edge) top = point[1] - seen / 2;
    hold();
  };
  const hold = () => {
    const most = SIDE - SIDE / zoom;
    left = Math.max(0, Math.min(left, most));
    top = Math.max(0, Math.min(top, most));
    ask();
  };
  const zoomAt = (factor, x, y) => {
    const before = scale();
    const mapX = left + x / before.x, mapY = top + y / before.y;
    zoom = Math.max(MIN_ZOOM, Math.min(MAX_ZOOM, zoom * factor));
    const after = scale();
    left = mapX - x / after.x;
    top = mapY - y / after.y;
    hold();
  };
  const open = () => { if (chosen >= 0) location.href = `/skills/${encodeURIComponent(data.points[chosen][3])}`; };
  const middle = (factor) => {
    const [x, y] = chosen >= 0 ? at(data.points[chosen]) : [canvas.clientWidth / 2, canvas.clientHeight / 2];
    zoomAt(factor, x, y);
  };
  const whole = () => { zoom = 1; left = top = 0; ask(); };

  // --- hands
  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.offsetX, y: event.offsetY, left, top, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) { choose(nearest(event.offsetX, event.offsetY)); return; }
    const dx = event.offsetX - held.x, dy = event.offsetY - held.y;
    if (!held.moved && Math.hypot(dx, dy) < 4) return;
    held.moved = true;
    const by = scale();
    left = held.left - dx / by.x;
    top = held.top - dy / by.y;
    hold();
  });
  canvas.addEventListener("pointerup", (event) => {
    const moved = held && held.moved;
    held = null;
    if (moved) return;
    choose(nearest(event.offsetX, event.offsetY), true);
    if (event.pointerType === "mouse") open();  // a finger first chooses, and opens with a second tap
    else if (chosen >= 0 && chosen === tapped) open();
    tapped = chosen;
  });
  let tapped = -1;
  canvas.addEventListener("pointercancel", () => { held = null; });
  canvas.addEventListener("pointerleave", () => { if (!held && document.activeElement !== canvas) choose(-1); });
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoomAt(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowLeft: () => towards(-1, 0), ArrowRight: () => towards(1, 0),
      ArrowUp: () => towards(0, -1), ArrowDown: () => towards(0, 1),
      Enter: open, "+": () => middle(1.5), "=": () => middle(1.5), "-": () => middle(1 / 1.5),
      0: whole, Escape: () => choose(-1),
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });
  for (const button of figure.querySelectorAll("button[data-zoom]")) {
    button.addEventListener("click", () => ({ in: () => middle(1.5), out: () => middle(1 / 1.5), all: whole })[button.dataset.zoom]());
  }

  // --- what is drawn
  const legends = () => {
    document.getElementById("map-verdict").hidden = choice.value === "use";
    document.getElementById("map-use").hidden = choice.value !== "use";
    ask();
  };
  choice.addEventListener("change", legends);
  const load = async () => {
    const key = document.getElementById("map-key");
    if (!key || key.dataset.key === shownKey) return;
    let answer;
    try { answer = await fetch("/graph.json"); } catch { return; }
    if (!answer.ok) return;
    const fresh = await answer.json();
    if (fresh.pending) { clearTimeout(waiting); waiting = setTimeout(load, 1500); return; }
    shownKey = key.dataset.key;
    const was = chosen >= 0 ? data.points[chosen][3] : null;
    data = fresh;
    chosen = -1;
    if (was !== null) choose(data.points.findIndex((point) => point[3] === was));
    figure.hidden = !data.points.length;
    figure.dataset.points = data.points.length;
    legends();
  };
  new ResizeObserver(ask).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ask);
  document.addEventListener("metier:renewed", load);
  load();
})();
