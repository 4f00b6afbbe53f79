// Tells the page that the memory has changed, and gives the search box its key. htmx does the rest.
"use strict";

let events;
let opened = false;

function listen() {
  if (document.hidden || events) return; // a hidden page holds no connection: a browser has six of them for one host
  events = new EventSource("/live");
  events.onmessage = () => {
    // The first call only says that the stream is open, and the page is fresh then; after a break it is not.
    if (opened) document.body.dispatchEvent(new CustomEvent("memory:changed"));
    opened = true;
    document.body.dataset.live = "yes";
  };
  events.onerror = () => { document.body.dataset.live = "no"; };
}

function rest() {
  events?.close();
  events = undefined;
}

document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
window.addEventListener("pagehide", rest);
window.addEventListener("pageshow", listen);

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    document.querySelector(".seek input")?.focus();
    event.preventDefault();
  }
});
