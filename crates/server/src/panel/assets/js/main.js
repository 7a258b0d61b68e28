// Where the panel starts: the frame, the pages, live updates. Each page is fetched when it is first shown.
import { start as startRouter } from "./router.js";
import { start as startLive } from "./live.js";
import { buildShell } from "./shell.js";
import { startKeys } from "./components/keys.js";
import { startClock } from "./components/parts.js";
import { mountToasts } from "./components/toast.js";

/** @import { Page } from "./router.js" */

/**
 * @param {string} title
 * @param {() => Promise<{ page: Page }>} load
 * @returns {Page}
 */
const lazy = (title, load) => ({
  title,
  async show(view) {
    const { page } = await load();
    if (!view.signal.aborted) await page.show(view);
  },
});

const pages = {
  home: lazy("Home", () => import("./pages/home.js")),
  review: lazy("Review", () => import("./pages/review.js")),
  memories: lazy("Memories", () => import("./pages/memories.js")),
  documents: lazy("Documents", () => import("./pages/documents.js")),
  conversations: lazy("Conversations", () => import("./pages/conversations.js")),
  timeline: lazy("Timeline", () => import("./pages/timeline.js")),
  tasks: lazy("Tasks", () => import("./pages/tasks.js")),
  vault: lazy("Vault", () => import("./pages/vault.js")),
  reflection: lazy("Reflection", () => import("./pages/reflection.js")),
  chat: lazy("Chat", () => import("./pages/chat.js")),
  sees: lazy("What my assistants see", () => import("./pages/sees.js")),
  connections: lazy("Connections", () => import("./pages/connections.js")),
  import: lazy("Import", () => import("./pages/import.js")),
  export: lazy("Export", () => import("./pages/export.js")),
  settings: lazy("Settings", () => import("./pages/settings.js")),
};

mountToasts();
startKeys();
startClock();
const { main, shown } = buildShell();
startRouter(main, pages, shown);
startLive();
