// Fails where a line or a function of the panel is too long. Goes in: a directory. Comes out: one line per finding.
const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");

const COLUMNS = 120;
const FUNCTION_LINES = 60;

const root = process.argv[2];
const files = fs.readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"));
const findings = [];

for (const file of files.map((name) => path.join(root, name)).sort()) {
  const text = fs.readFileSync(file, "utf8");
  for (const [at, line] of text.split("\n").entries()) {
    if ([...line].length > COLUMNS) findings.push(`${file}:${at + 1}: line longer than ${COLUMNS} characters`);
  }
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node) => {
    if (ts.isFunctionLike(node) && "body" in node && node.body) {
      const [first, last] = [lineOf(node.getStart(source)), lineOf(node.end)];
      const lines = last - first + 1;
      if (lines > FUNCTION_LINES)
        findings.push(`${file}:${first}: function of ${lines} lines (limit ${FUNCTION_LINES})`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

for (const finding of findings) console.error(finding);
process.exitCode = findings.length ? 1 : 0;
