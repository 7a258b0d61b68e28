// The page behind a one-time link: keeps the key that it brings, and goes on to the panel.
import { keepKey } from "./key.js";

const key = document.querySelector("meta[name=throughline-key]")?.getAttribute("content") ?? "";
try {
  keepKey(key);
  location.replace("/");
} catch {
  document.body.textContent =
    "This browser keeps no data for this page. Allow it for this address, and open a new link: throughline open";
}
