// Unfold whatever the address points into, so that a link to a call shows it.
"use strict";

function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let place = target; place; place = place.parentElement) {
    if (place instanceof HTMLDetailsElement) place.open = true;
  }
  target.scrollIntoView({ block: "start" });
}

addEventListener("hashchange", unfold);
unfold();
