// Tells the page that the memory has changed, and gives the search box its key. htmx does the rest.

const LOST = "The hub does not answer. What you see may be old, and what you press may not be done. This page comes back by itself.";
const BUSY = "Not live: this page looks for news every five seconds.";
let events, later;
let opened = false;

function contact(text) {
  const told = document.querySelector("#contact");
  if (told.textContent !== text) told.textContent = text; // or it would be read out again
}

function call(name) {
  document.body.dispatchEvent(new CustomEvent(name));
}

function listen() {
  if (document.hidden || events) return; // a hidden page holds no connection: a browser has six of them for one host
  events = new EventSource("/live");
  events.onmessage = () => {
    // The first call only says that the stream is open, and the page is fresh then; after a break it is not.
    if (opened) call("memory:changed");
    opened = true;
    document.body.dataset.live = "yes";
    contact("");
  };
  events.onerror = () => {
    document.body.dataset.live = "no";
    const refused = events.readyState === EventSource.CLOSED; // then the browser does not try again by itself
    contact(refused ? BUSY : LOST);
    if (!refused) return;
    rest();
    call("memory:unsure");
    later = setTimeout(listen, 5000);
  };
}

function rest() {
  clearTimeout(later);
  events?.close();
  events = undefined;
}

document.addEventListener("visibilitychange", () => (document.hidden ? rest() : listen()));
window.addEventListener("pagehide", rest);
window.addEventListener("pageshow", listen);

// Who was at an item that has gone goes on from the one in its place; not from a button, which a held key would press.
let place;
document.addEventListener("focusin", ({ target }) => {
  const item = target.closest("#items > li");
  place = item ? [...item.parentElement.children].indexOf(item) : undefined;
});
document.addEventListener("htmx:after:swap", () => {
  if (place === undefined || document.activeElement !== document.body) return;
  const items = document.querySelectorAll("#items > li");
  const next = items[Math.min(place, items.length - 1)] ?? document.querySelector("#open-title, main h1");
  if (!next) return;
  next.tabIndex = -1;
  next.focus();
});

document.addEventListener("htmx:error", () => contact(LOST));

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    document.querySelector(".seek input")?.focus();
    event.preventDefault();
  }
});
