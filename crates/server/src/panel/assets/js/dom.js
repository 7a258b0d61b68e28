// Builds the page. Stored text only ever becomes a text node, so nothing that was remembered can act as markup.
//
//   h("p.note", "text")                                   tag and classes, then children
//   h("button.primary", { type: "button", onclick: f, "aria-label": "Close", disabled: true }, icon("close"))
//   h("div", { style: { "--part": "40%" }, dataset: { id } }, [several, children], null, false)   null and false are left out
//   fill(node, ...children)                               replaces what is in it
//   svg("circle", { cx: 1, cy: 2, r: 3 })                 the same for drawings

const SVG = "http://www.w3.org/2000/svg";
const ATTRIBUTES_ONLY = new Set(["list", "form", "role", "for", "colspan"]);

function isProps(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Node);
}

export function h(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  if (isProps(rest[0])) assign(node, rest.shift());
  append(node, rest);
  return node;
}

export function svg(name, ...rest) {
  const node = document.createElementNS(SVG, name);
  if (isProps(rest[0])) {
    for (const [key, value] of Object.entries(rest.shift())) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, String(value));
    }
  }
  append(node, rest);
  return node;
}

function assign(node, props) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (key === "class") {
      if (value) node.classList.add(...value.split(/\s+/).filter(Boolean));
    } else if (key === "style") {
      for (const [name, part] of Object.entries(value)) node.style.setProperty(name, String(part));
    } else if (key === "dataset") {
      Object.assign(node.dataset, value);
    } else if (key.startsWith("on") && typeof value === "function") {
      node.addEventListener(key.slice(2), value);
    } else if (key in node && !ATTRIBUTES_ONLY.has(key)) {
      node[key] = value;
    } else if (value === false) {
      // An ARIA state that is false is still said; any other attribute is left away.
      if (key.startsWith("aria-")) node.setAttribute(key, "false");
    } else {
      node.setAttribute(key, value === true && !key.startsWith("aria-") ? "" : String(value));
    }
  }
}

function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === true) continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

/// Whether the person is typing, so that a letter is no shortcut.
export function isTyping() {
  const at = document.activeElement;
  return Boolean(at) && (at.matches("input:not([type=checkbox]), textarea, select") || at.isContentEditable);
}

export function debounce(wait, run) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(run, wait, ...given);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/// Offers text as a file.
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
