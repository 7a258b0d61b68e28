// Not written yet.
import { empty } from "../components/parts.js";

export const page = {
  show(view) {
    view.root.append(empty({ title: "Not here yet", text: "This page is being written." }));
  },
};
