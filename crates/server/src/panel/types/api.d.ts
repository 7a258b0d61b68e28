// The shapes that the daemon answers with, as far as the panel reads them, and the routes that answer them.
// `/api/openapi.json` describes all of them. Only types: nothing here is shipped.

declare namespace Api {
  type Layer = "identity" | "knowledge" | "archive";
  type Source = "system" | "agent" | "user";
  type Status = "active" | "inactive";
  type Kind = "entry" | "bullet" | "turn" | "chunk";
  /** An instant as RFC 3339 text. */
  type Instant = string;

  interface Memory {
    id: string;
    kind: Kind;
    layer: Layer;
    content: string;
    namespace: string;
    source: Source;
    status: Status;
    version: number;
    significance: number;
    recall_count: number;
    created_at: Instant;
    updated_at: Instant;
    last_recalled_at?: Instant | null;
    expires_at?: Instant | null;
    importance?: number;
    key?: string | null;
    project?: string | null;
    session?: string | null;
    task?: string | null;
    tags?: string[];
    provenance?: string[];
    supersedes?: string[];
    /** Never given to an assistant; a search still finds it. */
    muted?: boolean;
    muted_in?: string[];
  }

  /** What one feature adds to a score, or takes from it. */
  interface Contribution {
    name: string;
    value: number;
    points: number;
  }
  /** Why a memory was found: the score is `1 / (1 + e^-points)`, of all points together. */
  interface Why {
    found_by: FoundBy;
    /** Records of older versions have none. */
    features?: Contribution[];
    order?: Contribution[];
  }
  type FoundBy = "words" | "substring" | "date" | "meaning" | "beside";

  interface Hit extends Memory {
    /** How surely it fits, 0 to 1. */
    score: number;
    why: Why;
    speaker?: string | null;
    /** What says the same and was folded into it. */
    evidence?: string[];
  }

  interface Remembered extends Memory {
    outcome: "created" | "updated" | "unchanged";
    redacted: string[];
  }

  interface Change {
    id: string;
    at: Instant;
    verb: string;
    actor: { who: Source; via: string };
    undoes?: string | null;
  }

  interface MemoryVersion {
    change: Change;
    /** A version as it was stored: without what is counted elsewhere. */
    entry: Omit<Memory, "recall_count" | "last_recalled_at" | "significance">;
  }

  interface Erasure {
    versions: number;
    recalls: number;
    documents: string[];
    copies: string[];
    sources: string[];
    unreached: string[];
  }

  /** What deleting a memory answers: `unreached` only where it was erased. */
  interface Gone {
    id: string;
    unreached?: string[];
  }

  /** The reason for refusing one of many. */
  interface Refusal {
    message: string;
    code: string;
    hint?: string | null;
  }

  interface BulkDone {
    done: string[];
    failed: { id: string; error: Refusal }[];
  }

  interface Document {
    name: string;
    text: string;
    hash: string;
  }

  interface WrittenDocument extends Document {
    redacted: string[];
  }

  interface ListedDocument {
    name: string;
    exists: boolean;
    limit: { chars?: number | null; tokens?: number | null };
    chars: number;
    tokens: number;
    usage?: { chars: number; limit: number } | null;
    updated_at?: Instant | null;
    expires_at?: Instant | null;
    /** Of a search, a line with one of the words. */
    line?: string;
  }

  interface DocumentVersion {
    change: Change;
    version: number;
    text?: string | null;
  }

  type Role = "user" | "assistant" | "tool" | "system" | "summary";

  interface Turn {
    id: string;
    role: Role;
    content: string;
    at: Instant;
    speaker?: string | null;
  }

  interface Session {
    id: string;
    title?: string | null;
    created_at: Instant;
    updated_at: Instant;
    ended_at?: Instant | null;
    project?: string | null;
    task?: string | null;
    person?: string | null;
    failures: number;
  }

  interface ListedSession extends Session {
    turns: number;
  }

  interface ShownSession {
    session: Session;
    turns: Turn[];
    more: boolean;
  }

  interface RecalledHit {
    id: string;
    kind?: Kind;
    score: number;
    why: Why;
    given?: boolean;
  }

  interface Recall {
    recall_id: string;
    at: Instant;
    by?: "person" | "message" | "tool";
    query: string;
    hits: RecalledHit[];
  }

  interface Consolidation {
    outcome: "nothing" | "busy" | "done" | "archived" | "failed";
    compacted?: number;
    facts?: string[];
    reason?: string;
  }

  interface EndedSession {
    consolidation: Consolidation;
  }

  type TaskStatus = "open" | "done" | "removed";

  interface Task {
    id: string;
    title: string;
    status: TaskStatus;
    state?: string;
    project?: string | null;
    archive?: string | null;
    done_at?: Instant | null;
    updated_at: Instant;
  }

  interface VaultDocument {
    id: string;
    title: string;
    path: string;
    collection: string;
    bytes: number;
    chunks: number;
    updated_at: Instant;
  }

  interface Passage {
    title: string;
    titles: string[];
    content: string;
    citation: string;
    score: number;
    why: { bm25: number; found_by: FoundBy; similarity?: number | null };
    /** Where it is: a page of a PDF, or lines of a text. */
    page?: number;
    first_line?: number;
    last_line?: number;
  }

  interface VaultAnswer {
    hits: Passage[];
    searched_by: "words" | "words_and_meaning";
    remark?: string | null;
  }

  interface Reflection {
    target: string;
    at: Instant;
    outcome: "changed" | "unchanged" | "failed";
    reason?: string | null;
    change?: string | null;
    applied: { op: string; what: string; document?: string | null }[];
    dropped: { op: string; reason: string }[];
    documents: { name: string; before: string; after: string }[];
    tokens_in: number;
    tokens_out: number;
  }

  type Verdict = "keep" | "edit" | "drop" | "rule";

  /** A turn that a memory came from. */
  interface Evidence extends Memory {
    speaker?: string | null;
    title?: string | null;
  }

  interface ReviewItem {
    memory: Memory;
    evidence: Evidence[];
    replaced?: Memory;
    also_replaced?: Memory[];
  }

  interface ReviewListing {
    items: ReviewItem[];
    count: number;
    cursor?: string | null;
  }

  interface Reviewed {
    memory: Memory;
    verdict: Verdict;
    restored?: Memory[];
  }

  /** One line of what a session begins with. */
  interface OpeningLine {
    block: string;
    id?: string | null;
    text: string;
    tokens: number;
  }

  /** One line of what comes with a message. */
  interface GivenLine {
    id: string;
    text: string;
    tokens: number;
    why: string;
  }

  interface LeftOut {
    id: string;
    kind: Kind;
    content: string;
    score: number;
    why: Why;
  }

  interface Preview {
    system_prompt: string;
    message?: string | null;
    parts: Part[];
    lines?: OpeningLine[];
    given?: GivenLine[];
    found_but_not_given?: LeftOut[];
    off_record?: "paused" | "excluded";
    failure?: string;
  }

  interface Connection {
    client: string;
    installed: boolean;
    parts: string[];
    partly: string[];
    problems: string[];
    last_heard_at?: Instant | null;
    session?: string | null;
    given: number;
  }

  interface FileChange {
    path: string;
    outcome: "written" | "restored" | "removed";
    parts: string[];
    added: string[];
    removed: string[];
  }

  interface ConnectionChange {
    client: string;
    dry_run: boolean;
    files: FileChange[];
    remarks: string[];
  }

  interface Tally {
    added: number;
    brought_back: number;
    here: number;
    differing: number;
    forgotten: number;
  }

  interface Skipped {
    reason: string;
    count: number;
    places: string[];
  }

  /** Imported conversations of which no memories are made yet. */
  interface Ahead {
    conversations: number;
    turns: number;
    /** Whether it goes on in the background. */
    started: boolean;
    /** How long it takes, where that can be told. */
    seconds?: number | null;
    /** How often a model is asked, where one must be. */
    requests?: number | null;
    /** What does it on the command line. */
    command: string;
  }

  /** What a file held; of an export of our own, the fields from `added` on. */
  interface ImportReport {
    profile?: Tally;
    knowledge?: Tally;
    archive?: Tally;
    turns?: Tally | number;
    sessions?: number;
    samples?: string[];
    skipped?: Skipped[];
    adjusted?: Skipped[];
    redacted?: Record<string, number>;
    change?: string | null;
    consolidation?: Ahead;
    added?: number;
    kept?: number;
    tasks?: number;
    documents?: string[];
  }

  interface TouchedMemory {
    id: string;
    kind: Kind;
    layer: Layer;
    status: Status;
    content: string;
    is_new: boolean;
    session?: string | null;
  }

  interface Touched {
    memories: TouchedMemory[];
    count: number;
    learnt: number;
    documents: string[];
    tasks: { id: string; title: string; status: TaskStatus }[];
    threads: { session: string; title: string }[];
    projects: string[];
  }

  interface ToldChange extends Change {
    touched?: Touched | null;
  }

  interface Thread {
    id: string;
    session: string;
    title: string;
    project?: string | null;
    updated_at: Instant;
    expires_at: Instant;
  }

  /** What memory did for the person. */
  interface Served {
    messages: number;
    given: number;
    again: number;
    used: number;
    corrected: number;
  }

  interface Undone {
    memories?: Memory[];
    documents?: string[];
    tasks?: string[];
  }

  interface Overview {
    knowledge: number;
    archive: number;
    bullets: number;
    sessions: number;
    turns: number;
    recalls: number;
    changes: number;
    bytes: number;
    identity?: { chars: number; limit: number } | null;
    working_expires_at?: Instant | null;
    embeddings?: { model: string; embedded: number; refused: number; of: number };
  }

  interface Health {
    problems: string[];
    remarks: string[];
  }

  interface DayActivity {
    /** A date, as `2026-11-16`. */
    day: string;
    remembered: number;
    turns: number;
    recalls: number;
    changes: number;
  }

  type RunOutcome = "done" | "waiting" | "failed";

  interface Run {
    outcome: RunOutcome;
    what: string;
    started_at: Instant;
    ended_at: Instant;
  }

  interface Job {
    name: string;
    every: string;
    running: boolean;
    last_outcome?: RunOutcome | null;
    last_run_at?: Instant | null;
    next_run_at?: Instant | null;
    log: Run[];
  }

  interface Setting {
    key: string;
    value: string;
    from: string;
    /** What it does. */
    about: string;
    /** What it is, where it may be changed here. */
    change?: "flag" | "number";
    /** What holds from the next start on. */
    next?: string;
  }

  interface ChatModel {
    available: boolean;
    provider: string;
    model?: string | null;
    why?: string | null;
  }

  /** A part of the context that a chat message was given. */
  interface Part {
    what: string;
    why: string;
    tokens: number;
    id?: string | null;
  }

  /** What the daemon sends while a model answers. */
  type ChatEvent =
    | { name: "session"; data: { session: string } }
    | { name: "injected"; data: { parts: Part[] } }
    | { name: "tool"; data: { name: string; summary: string } }
    | { name: "delta"; data: { text: string } }
    | { name: "done"; data: { reply: string } }
    | { name: "failed"; data: { error: Refusal } };

  /** The body of every answer that is an error. `current` comes with a write that lost a race. */
  interface ErrorBody {
    error?: { message?: string; code?: string; hint?: string | null; current?: { text: string; hash: string } | null };
  }

  type QueryValue = string | number | boolean | string[] | null | undefined;
  type Query = Record<string, QueryValue> | null;

  interface Options {
    signal?: AbortSignal;
    headers?: Record<string, string>;
  }

  interface RequestOptions extends Options {
    query?: Query;
    body?: unknown;
  }

  interface Answer<Body> {
    body: Body;
    etag: string | null;
    status: number;
  }

  // The longer path comes first: `/api/memories/${string}` also fits its history.
  interface Get {
    (path: "/api/memories", query?: Query, options?: Options): Promise<{ memories: Memory[]; cursor?: string | null }>;
    (path: `/api/memories/${string}/history`, query?: Query, options?: Options): Promise<{ versions: MemoryVersion[] }>;
    (path: `/api/memories/${string}/erasure`, query?: Query, options?: Options): Promise<Erasure>;
    (path: `/api/memories/${string}`, query?: Query, options?: Options): Promise<Memory>;
    (path: "/api/changes", query?: Query, options?: Options): Promise<{ changes: ToldChange[] }>;
    (path: "/api/connections", query?: Query, options?: Options): Promise<{ clients: Connection[] }>;
    (path: "/api/review", query?: Query, options?: Options): Promise<ReviewListing>;
    (path: "/api/threads", query?: Query, options?: Options): Promise<{ threads: Thread[] }>;
    (path: "/api/documents", query?: Query, options?: Options): Promise<{ documents: ListedDocument[] }>;
    (
      path: `/api/documents/${string}/history`,
      query?: Query,
      options?: Options,
    ): Promise<{ versions: DocumentVersion[] }>;
    (path: `/api/documents/${string}`, query?: Query, options?: Options): Promise<Document>;
    (path: "/api/sessions", query?: Query, options?: Options): Promise<{ sessions: ListedSession[]; cursor?: string }>;
    (
      path: `/api/sessions/${string}/consolidations`,
      query?: Query,
      options?: Options,
    ): Promise<{ consolidations: Memory[] }>;
    (path: `/api/sessions/${string}`, query?: Query, options?: Options): Promise<ShownSession>;
    (path: "/api/recalls", query?: Query, options?: Options): Promise<{ recalls: Recall[] }>;
    (path: "/api/tasks", query?: Query, options?: Options): Promise<{ tasks: Task[] }>;
    (path: `/api/tasks/${string}`, query?: Query, options?: Options): Promise<Task>;
    (
      path: "/api/projects",
      query?: Query,
      options?: Options,
    ): Promise<{ projects: { name: string }[]; roots?: { name: string }[] }>;
    (path: "/api/vault", query?: Query, options?: Options): Promise<{ documents: VaultDocument[] }>;
    (path: "/api/reflections", query?: Query, options?: Options): Promise<{ passes: Reflection[] }>;
    (path: "/api/stats", query?: Query, options?: Options): Promise<Overview>;
    (path: "/api/activity", query?: Query, options?: Options): Promise<{ days: DayActivity[]; served: Served }>;
    (path: "/api/health", query?: Query, options?: Options): Promise<Health>;
    (path: "/api/status", query?: Query, options?: Options): Promise<About>;
    (path: "/api/import", query?: Query, options?: Options): Promise<{ consolidation?: Ahead | null }>;
    (path: "/api/jobs", query?: Query, options?: Options): Promise<{ jobs: Job[] }>;
    (path: "/api/settings", query?: Query, options?: Options): Promise<{ path?: string | null; settings: Setting[] }>;
    (path: "/api/chat", query?: Query, options?: Options): Promise<ChatModel>;
    (path: "/healthz", query?: Query, options?: Options): Promise<{ version: string }>;
  }

  interface About {
    version: string;
    memory: string;
    config?: string | null;
    stats: Overview;
  }

  interface Post {
    (path: "/api/memories", body: object, options?: Options): Promise<Remembered>;
    (path: "/api/memories/bulk", body: object, options?: Options): Promise<BulkDone>;
    (path: "/api/memories/merge", body: object, options?: Options): Promise<Remembered>;
    (path: `/api/memories/${string}/correct`, body: object, options?: Options): Promise<Remembered>;
    (path: `/api/memories/${string}/restore`, body: object, options?: Options): Promise<Remembered>;
    (path: `/api/documents/${string}/restore`, body: object, options?: Options): Promise<Document>;
    (path: `/api/sessions/${string}/compact`, body?: object, options?: Options): Promise<Consolidation>;
    (path: `/api/sessions/${string}/end`, body?: object, options?: Options): Promise<EndedSession>;
    (path: `/api/sessions/${string}/reset`, body?: object, options?: Options): Promise<{ session: string }>;
    (path: `/api/memories/${string}/mute`, body: object, options?: Options): Promise<Memory>;
    (path: `/api/review/${string}`, body: object, options?: Options): Promise<Reviewed>;
    (path: "/api/context/preview", body: object, options?: Options): Promise<Preview>;
    (path: `/api/connections/${string}`, body?: object, options?: Options): Promise<ConnectionChange>;
    (path: "/api/import" | "/api/import?dry_run=true", body: object, options?: Options): Promise<ImportReport>;
    (path: "/api/recall", body: object, options?: Options): Promise<{ hits: Hit[] }>;
    (path: "/api/tasks", body: object, options?: Options): Promise<Task>;
    (path: `/api/tasks/${string}/done`, body: object, options?: Options): Promise<Task>;
    (path: "/api/vault/search", body: object, options?: Options): Promise<VaultAnswer>;
    (path: "/api/reflect", body: object, options?: Options): Promise<Reflection>;
    (path: "/api/undo", body: object, options?: Options): Promise<Undone>;
    (path: `/api/jobs/${string}/run`, body?: object, options?: Options): Promise<Run>;
    (path: "/api/backup", body?: object, options?: Options): Promise<{ path: string }>;
  }

  interface Patch {
    (path: `/api/memories/${string}`, body: object, options?: Options): Promise<Remembered>;
    (path: `/api/tasks/${string}`, body: object, options?: Options): Promise<Task>;
  }

  interface Delete {
    (path: `/api/memories/${string}`, query?: Query, options?: Options): Promise<Gone>;
    (path: `/api/tasks/${string}`, query?: Query, options?: Options): Promise<Task>;
    (path: `/api/vault/${string}`, query?: Query, options?: Options): Promise<{ removed: number }>;
    (path: `/api/review/${string}`, query?: Query, options?: Options): Promise<Memory>;
    (path: `/api/connections/${string}`, query?: Query, options?: Options): Promise<ConnectionChange>;
    (path: `/api/threads/${string}`, query?: Query, options?: Options): Promise<{ title: string }>;
  }

  /** With status and ETag. */
  interface Ask {
    (method: "GET", path: `/api/documents/${string}`, options?: RequestOptions): Promise<Answer<Document>>;
    (method: "PUT", path: `/api/documents/${string}`, options?: RequestOptions): Promise<Answer<WrittenDocument>>;
    (
      method: "PUT",
      path: `/api/settings/${string}`,
      options?: RequestOptions,
    ): Promise<Answer<{ path?: string | null; settings: Setting[] }>>;
  }
}
