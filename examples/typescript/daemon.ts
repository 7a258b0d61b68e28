// The daemon of this person, found by what it says about itself.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const home = process.env.THROUGHLINE_HOME || join(homedir(), ".local", "share", "throughline");

export const url: string = JSON.parse(readFileSync(join(home, "daemon.json"), "utf8")).url;
export const token: string = readFileSync(join(home, "token"), "utf8").trim();
