// Sets the chosen theme before anything is painted. A plain script on purpose: modules run too late for that.
// `auto` follows the system. The switch is in shell.js, which calls `throughlineTheme`.
(() => {
  const KEY = "throughline-theme";
  const read = () => {
    try {
      return localStorage.getItem(KEY) ?? "auto";
    } catch {
      return "auto";
    }
  };
  /** @param {string} theme */
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  window.throughlineTheme = {
    get: read,
    set(theme) {
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // Storage is disabled: the choice lasts as long as the page.
      }
      show(theme);
    },
  };
  show(read());
})();
