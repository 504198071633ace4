// Load the page anew every half minute, while somebody looks at it and is not in the middle of something.
"use strict";

const EVERY_MS = 30000;
const born = Date.now();
const chosen = () => JSON.stringify([...document.querySelectorAll("form input, form select")].map((field) => field.value));
const served = chosen();
let asking = false;

function busy() {
  const focus = document.activeElement;
  if (focus && focus.closest("form")) return true;
  if (!getSelection().isCollapsed) return true;
  // A filter that was chosen and not asked for yet.
  return chosen() !== served;
}

async function refresh() {
  if (asking || document.hidden || busy() || Date.now() - born < EVERY_MS) return;
  asking = true;
  try {
    // An address that does not answer would put the browser's own error in the page's place.
    await fetch("/healthz", { cache: "no-store" });
    location.reload();
  } catch {
    document.getElementById("as-of").classList.add("stale");
  } finally {
    asking = false;
  }
}

setInterval(refresh, EVERY_MS);
document.addEventListener("visibilitychange", refresh);
