// Where the panel begins: the frame, the pages, live updates. Each page is fetched when it is first shown.
import { start as startRouter } from "./router.js";
import { start as startLive } from "./live.js";
import { buildShell } from "./shell.js";
import { startKeys } from "./components/keys.js";
import { startClock } from "./components/parts.js";
import { mountToasts } from "./components/toast.js";

const lazy = (title, file) => ({
  title,
  async show(view) {
    const { page } = await import(`/assets/js/pages/${file}.js`);
    if (!view.signal.aborted) await page.show(view);
  },
});

const pages = {
  home: lazy("Home", "home"),
  memories: lazy("Memories", "memories"),
  documents: lazy("Documents", "documents"),
  conversations: lazy("Conversations", "conversations"),
  timeline: lazy("Timeline", "timeline"),
  tasks: lazy("Tasks", "tasks"),
  vault: lazy("Vault", "vault"),
  reflection: lazy("Reflection", "reflection"),
  chat: lazy("Chat", "chat"),
  export: lazy("Export", "export"),
  settings: lazy("Settings", "settings"),
};

mountToasts();
startKeys();
startClock();
const { main, shown } = buildShell();
startRouter(main, pages, shown);
startLive();
