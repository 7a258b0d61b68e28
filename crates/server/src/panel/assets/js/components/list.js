// A list of any length with rows of one height: only what is visible is in the document, further pages are fetched on the way.
//
//   const list = virtualList({
//     label: "Memories", rowHeight: 76,
//     row: () => node,                         makes an empty row
//     show: (node, item, index) => {},         writes an item into a row that may have held another
//     key: (item) => item.id,
//     more: async (cursor) => ({ items, cursor }),    the next page; a cursor of null ends it
//     onopen: (item) => {}, oncurrent: (item) => {}, empty: () => node,
//   })
//   root.append(list.node)
//   await list.reset()         begins anew, at the top           list.set(items)     a list that is whole
//   await list.refresh()       fetches what is loaded again and keeps place, focus and current row
//   list.repaint()             writes the visible rows again     list.move(1)        next row
//   list.replace(item)         the same item, newer               list.depth          the first row that is visible
//   list.items, list.current, list.select(key), list.isWhole
import { fill, h } from "../dom.js";
import { isAborted } from "../api.js";
import { failed } from "./toast.js";

const OVERSCAN = 8;
const AHEAD = 120;

export function virtualList({ label, rowHeight, row, show, key, more, onopen, oncurrent, empty, signal }) {
  const inner = h("div.vlist-inner");
  const blank = h("div.vlist-empty", { hidden: true });
  const node = h(
    "div.vlist",
    { role: "listbox", "aria-label": label, tabIndex: 0, style: { "--row": `${rowHeight}px` } },
    inner,
    blank,
  );
  const used = new Map();
  const spare = [];
  let items = [];
  let cursor = null;
  let isWhole = true;
  let loading = null;
  let currentKey = null;
  let run = 0;
  let frame = 0;

  const schedule = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      paint(false);
    });
  };
  node.addEventListener("scroll", schedule, { passive: true });
  const watcher = new ResizeObserver(schedule);
  watcher.observe(node);
  signal?.addEventListener("abort", () => watcher.disconnect());

  function paint(again) {
    const top = node.scrollTop;
    const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
    const last = Math.min(items.length, Math.ceil((top + node.clientHeight) / rowHeight) + OVERSCAN);
    for (const [index, element] of used) {
      if (index < first || index >= last) {
        used.delete(index);
        spare.push(element);
      }
    }
    for (let index = first; index < last; index += 1) {
      let element = used.get(index);
      const isNew = !element;
      if (isNew) {
        element = spare.pop() ?? makeRow();
        used.set(index, element);
        element.style.transform = `translateY(${index * rowHeight}px)`;
      }
      if (isNew || again || element.item !== items[index]) writeRow(element, index);
    }
    for (const element of spare) element.hidden = true;
    if (spare.length > 20) for (const element of spare.splice(20)) element.remove();
    inner.style.height = `${items.length * rowHeight + (isWhole ? 0 : rowHeight)}px`;
    inner.classList.toggle("has-more", !isWhole);
    blank.hidden = items.length > 0 || !isWhole || Boolean(loading);
    if (!blank.hidden && !blank.hasChildNodes() && empty) fill(blank, empty());
    if (!isWhole && last > items.length - AHEAD) fetchMore();
  }

  function makeRow() {
    const element = row();
    element.classList.add("vrow");
    element.setAttribute("role", "option");
    element.addEventListener("click", (event) => {
      if (event.target.closest("button, a, input, [data-own]")) return;
      setCurrent(element.item);
      onopen?.(element.item, event);
    });
    inner.append(element);
    return element;
  }

  function writeRow(element, index) {
    const item = items[index];
    element.hidden = false;
    element.item = item;
    element.id = `row-${key(item)}`;
    const isCurrent = key(item) === currentKey;
    element.classList.toggle("current", isCurrent);
    element.setAttribute("aria-selected", String(isCurrent));
    element.setAttribute("aria-posinset", String(index + 1));
    element.setAttribute("aria-setsize", isWhole ? String(items.length) : "-1");
    show(element, item, index);
  }

  async function fetchMore() {
    if (loading || isWhole) return loading;
    const mine = run;
    loading = (async () => {
      try {
        const page = await more(cursor);
        if (mine !== run) return;
        for (const item of page.items) items.push(item);
        cursor = page.cursor ?? null;
        isWhole = cursor === null;
      } catch (error) {
        if (mine === run && !isAborted(error)) {
          isWhole = true;
          failed(error);
        }
      } finally {
        if (mine === run) {
          loading = null;
          schedule();
        }
      }
    })();
    return loading;
  }

  async function reset() {
    run += 1;
    loading = null;
    items = [];
    cursor = null;
    isWhole = false;
    node.scrollTop = 0;
    fill(blank);
    await fetchMore();
    paint(true);
  }

  function set(all) {
    run += 1;
    loading = null;
    items = all;
    isWhole = true;
    node.scrollTop = 0;
    fill(blank);
    paint(true);
  }

  /// Fetches again as much as was loaded, up to a bound: what is far below is fetched when it is scrolled to.
  async function refresh() {
    const mine = (run += 1);
    loading = null;
    const wanted = Math.min(items.length, Math.ceil((node.scrollTop + node.clientHeight) / rowHeight) + AHEAD);
    let fresh = [];
    let next = null;
    do {
      const page = await more(next);
      if (mine !== run) return;
      fresh = fresh.concat(page.items);
      next = page.cursor ?? null;
    } while (next !== null && fresh.length < wanted);
    items = fresh;
    cursor = next;
    isWhole = next === null;
    fill(blank);
    paint(true);
  }

  function setCurrent(item) {
    const next = item ? key(item) : null;
    if (next === currentKey) return;
    currentKey = next;
    if (next === null) node.removeAttribute("aria-activedescendant");
    else node.setAttribute("aria-activedescendant", `row-${next}`);
    paint(true);
    if (item) oncurrent?.(item);
  }

  function reveal(index) {
    const top = index * rowHeight;
    if (top < node.scrollTop) node.scrollTop = top;
    else if (top + rowHeight > node.scrollTop + node.clientHeight) node.scrollTop = top + rowHeight - node.clientHeight;
  }

  function move(step) {
    if (!items.length) return null;
    const at = items.findIndex((item) => key(item) === currentKey);
    const next = Math.max(0, Math.min(items.length - 1, at < 0 ? 0 : at + step));
    reveal(next);
    setCurrent(items[next]);
    return items[next];
  }

  node.addEventListener("keydown", (event) => {
    if (event.target !== node || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(node.clientHeight / rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length };
    if (event.key in steps) move(steps[event.key]);
    else if (event.key === "Enter" && currentKey !== null)
      onopen?.(
        items.find((item) => key(item) === currentKey),
        event,
      );
    else return;
    event.preventDefault();
  });

  return {
    node,
    reset,
    set,
    refresh,
    move,
    repaint: () => paint(true),
    replace(item) {
      const at = items.findIndex((each) => key(each) === key(item));
      if (at < 0) return;
      items[at] = item;
      paint(true);
    },
    get depth() {
      return Math.floor(node.scrollTop / rowHeight);
    },
    select: (wanted) => {
      if (wanted === null) setCurrent(null);
      else {
        currentKey = wanted;
        paint(true);
      }
    },
    get items() {
      return items;
    },
    get isWhole() {
      return isWhole;
    },
    get current() {
      return items.find((item) => key(item) === currentKey) ?? null;
    },
  };
}
