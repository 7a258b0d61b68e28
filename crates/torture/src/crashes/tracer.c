/*
 * Runs a program, records every change that it makes below one directory, and makes such changes fail.
 *
 * It stands between the program and the kernel (ptrace), so it sees the real program, SQLite and document writes alike.
 *
 * TORTURE_ROOT   the directory, without links in its path
 * TORTURE_LOG    where to record; without it, nothing is recorded. While recording, nothing is really synced.
 * TORTURE_FAULT  kill, enospc, eio or erofs: what happens to a change; message: killed where something is sent over a socket
 * TORTURE_AFTER  how many changes go well first
 * TORTURE_FOR    how many then fail; 0 means all of them
 *
 * A record is a header and two texts (see log.rs). Several tracers append to one log under its lock, which each holds over the
 * whole change: the order of the records is the order of the changes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <elf.h>
#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif
#endif

#ifdef __GLIBC__
#define ptrace_syscall_info __ptrace_syscall_info
#endif

#define PATH 4096

enum kind { NOTHING, CREATE, MKDIR, WRITE, TRUNCATE, SYNC, SYNCDIR, RENAME, EXCHANGE, LINK, REMOVE, MESSAGE };
enum fault { NONE, KILL, NOSPACE, BROKEN, READONLY, AT_MESSAGE };

struct header {
  uint32_t kind, first, second, unused;
  uint64_t inode, offset;
};

/* What a system call is about to do. */
struct change {
  enum kind kind;
  char one[PATH], other[PATH];
  uint64_t inode, offset, address, length;
};

static const long traced[] = {
#ifdef SYS_open
    SYS_open, SYS_creat, SYS_rename, SYS_link, SYS_unlink, SYS_mkdir, SYS_rmdir,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_openat, SYS_openat2, SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_mkdirat, SYS_write, SYS_pwrite64, SYS_writev,
    SYS_pwritev, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_copy_file_range, SYS_sendfile,
    SYS_sendto, SYS_sendmsg};
#define TRACED (sizeof traced / sizeof *traced)

static char root[PATH];
static size_t root_length;
static int log_fd = -1;
static enum fault fault;
static long after, duration, count;

static void die(const char *what) {
  perror(what);
  exit(125);
}

static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static void note(enum kind kind, uint64_t inode, uint64_t offset, const void *first, size_t length, const char *second) {
  if (log_fd < 0) return;
  struct header header = {kind, length, second ? strlen(second) : 0, 0, inode, offset};
  struct iovec parts[3] = {{&header, sizeof header}, {(void *)first, length}, {(void *)second, header.second}};
  if (writev(log_fd, parts, 3) != (ssize_t)(sizeof header + length + header.second)) die("writing the log");
}

/* The path below the root, or nothing. The index of SQLite's log is mapped into memory, and on no disk. */
static const char *below(const char *path) {
  size_t length = strlen(path);
  if (strncmp(path, root, root_length)) return NULL;
  if (length > 4 && !strcmp(path + length - 4, "-shm")) return NULL;
  if (!path[root_length]) return path + root_length;
  return path[root_length] == '/' ? path + root_length + 1 : NULL;
}

static int read_link(char *target, const char *format, int tid, int fd) {
  char link[64];
  snprintf(link, sizeof link, format, tid, fd);
  ssize_t length = readlink(link, target, PATH - 1);
  if (length < 0) return 0;
  target[length] = 0;
  return 1;
}

static int read_memory(int tid, uint64_t address, void *target, size_t length) {
  struct iovec here = {target, length}, there = {(void *)(uintptr_t)address, length};
  return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)length;
}

/* A path of the program, absolute. */
static int read_path(int tid, int dir, uint64_t address, char *target) {
  char text[PATH], base[PATH] = "";
  size_t length = 0;
  while (length < PATH && read_memory(tid, address + length, text + length, 1) && text[length]) length++;
  if (length >= PATH) return 0;
  text[length] = 0;
  if (text[0] == '/') return snprintf(target, PATH, "%s", text) < PATH;
  if (!(dir == AT_FDCWD ? read_link(base, "/proc/%d/cwd", tid, 0) : read_link(base, "/proc/%d/fd/%d", tid, dir))) return 0;
  if (!strcmp(text, ".") || !*text) return snprintf(target, PATH, "%s", base) < PATH;
  return snprintf(target, PATH, "%s/%s", base, text) < PATH;
}

/* A file of the program that is open: its path, if it is below the root. */
static int find_file(int tid, int fd, struct stat *now, char *path) {
  char link[64];
  if (!read_link(path, "/proc/%d/fd/%d", tid, fd) || strncmp(path, root, root_length)) return 0;
  /* What was removed while it is open says so behind its name. */
  char *removed = strstr(path, " (deleted)");
  if (removed) *removed = 0;
  snprintf(link, sizeof link, "/proc/%d/fd/%d", tid, fd);
  return below(path) && !stat(link, now);
}

static uint64_t position(int tid, int fd, const struct stat *now) {
  char name[64], text[256];
  long long at = 0;
  unsigned flags = 0;
  snprintf(name, sizeof name, "/proc/%d/fdinfo/%d", tid, fd);
  int info = open(name, O_RDONLY);
  ssize_t length = read(info, text, sizeof text - 1);
  close(info);
  if (length < 0) return 0;
  text[length] = 0;
  sscanf(text, "pos: %lld flags: %o", &at, &flags);
  return flags & O_APPEND ? (uint64_t)now->st_size : (uint64_t)at;
}

static int is_failing(void) { return fault != NONE && count > after && (!duration || count <= after + duration); }

/* Counts a change, and says how it fails: 0 if it does not. */
static int fails(enum kind kind) {
  count++;
  if (!is_failing()) return 0;
  switch (fault) {
  case KILL: return EINTR;
  case NOSPACE: return kind == WRITE || kind == CREATE || kind == MKDIR || kind == TRUNCATE ? ENOSPC : 0;
  case BROKEN: return kind == WRITE || kind == SYNC || kind == SYNCDIR || kind == TRUNCATE ? EIO : 0;
  default: return kind == SYNC || kind == SYNCDIR ? 0 : EROFS;
  }
}

#if defined(__x86_64__)
static void skip(int tid) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, tid, 0, &registers)) return;
  registers.orig_rax = -1;
  ptrace(PTRACE_SETREGS, tid, 0, &registers);
}
static void answer(int tid, long value) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, tid, 0, &registers)) return;
  registers.rax = value;
  ptrace(PTRACE_SETREGS, tid, 0, &registers);
}
static void shorten(int tid, uint64_t length) {
  struct user_regs_struct registers;
  if (ptrace(PTRACE_GETREGS, tid, 0, &registers)) return;
  registers.rdx = length;
  ptrace(PTRACE_SETREGS, tid, 0, &registers);
}
#elif defined(__aarch64__)
static void set_register(int tid, int which, uint64_t value) {
  struct user_regs_struct registers;
  struct iovec all = {&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &all)) return;
  registers.regs[which] = value;
  ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &all);
}
static void skip(int tid) {
  int none = -1;
  struct iovec call = {&none, sizeof none};
  ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &call);
}
static void answer(int tid, long value) { set_register(tid, 0, value); }
static void shorten(int tid, uint64_t length) { set_register(tid, 2, length); }
#else
#error "registers of this processor are not known"
#endif

/* Goes on until the system call has returned; gives what it returned. */
static long finish(int tid) {
  int status, signal = 0;
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, tid, 0, signal)) return -EINTR;
    if (waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status)) return -EINTR;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) break;
    signal = status >> 16 || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
  }
  struct ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) < 0) return -EINTR;
  return info.exit.rval;
}

static void names(int tid, struct change *change, enum kind kind, int from_dir, uint64_t from, int to_dir, uint64_t to) {
  if (!read_path(tid, from_dir, from, change->one) || !below(change->one)) return;
  if (to && (!read_path(tid, to_dir, to, change->other) || !below(change->other))) return;
  change->kind = kind;
}

/* Opening changes something where the file is made or emptied. */
static void opening(int tid, struct change *change, int dir, uint64_t path, uint64_t flags) {
  struct stat was;
  if (!read_path(tid, dir, path, change->one) || !below(change->one)) return;
  int is_missing = lstat(change->one, &was) != 0, writes = (flags & O_ACCMODE) != O_RDONLY;
  if (is_missing && (flags & O_CREAT)) change->kind = CREATE;
  else if (!is_missing && writes && (flags & O_TRUNC) && was.st_size > 0) {
    change->kind = TRUNCATE;
    change->inode = was.st_ino;
  } else if (!is_missing && writes && fault == READONLY) {
    count++;
    change->kind = is_failing() ? CREATE : NOTHING;
    count--;
  }
}

static void on_file(int tid, struct change *change, enum kind kind, int fd) {
  struct stat now;
  if (!find_file(tid, fd, &now, change->one)) return;
  if (kind == SYNC && S_ISDIR(now.st_mode)) kind = SYNCDIR;
  else if (!S_ISREG(now.st_mode)) return;
  change->kind = kind;
  change->inode = now.st_ino;
  if (kind == WRITE) change->offset = position(tid, fd, &now);
}

/* Whether a message is sent, where those are counted. */
static int sends(int tid, const struct ptrace_syscall_info *info) {
  char target[PATH];
  long call = info->seccomp.nr;
  if (fault != AT_MESSAGE || !(call == SYS_sendto || call == SYS_sendmsg || call == SYS_write || call == SYS_writev)) return 0;
  return read_link(target, "/proc/%d/fd/%d", tid, info->seccomp.args[0]) && !strncmp(target, "socket:", 7);
}

/* What a system call would change. Calls that have no record are refused: programs then use others. */
static int understand(int tid, const struct ptrace_syscall_info *info, struct change *change) {
  const uint64_t *a = (const uint64_t *)info->seccomp.args;
  struct open_how how = {0};
  struct iovec part;
  change->kind = sends(tid, info) ? MESSAGE : NOTHING;
  if (fault == AT_MESSAGE) return 0;
  switch (info->seccomp.nr) {
#ifdef SYS_open
  case SYS_open: opening(tid, change, AT_FDCWD, a[0], a[1]); break;
  case SYS_creat: opening(tid, change, AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC); break;
  case SYS_rename: names(tid, change, RENAME, AT_FDCWD, a[0], AT_FDCWD, a[1]); break;
  case SYS_link: names(tid, change, LINK, AT_FDCWD, a[0], AT_FDCWD, a[1]); break;
  case SYS_unlink: case SYS_rmdir: names(tid, change, REMOVE, AT_FDCWD, a[0], 0, 0); break;
  case SYS_mkdir: names(tid, change, MKDIR, AT_FDCWD, a[0], 0, 0); break;
#endif
#ifdef SYS_renameat
  case SYS_renameat: names(tid, change, RENAME, a[0], a[1], a[2], a[3]); break;
#endif
  case SYS_openat: opening(tid, change, a[0], a[1], a[2]); break;
  case SYS_openat2:
    if (read_memory(tid, a[2], &how, sizeof how)) opening(tid, change, a[0], a[1], how.flags);
    break;
  case SYS_renameat2: names(tid, change, a[4] & RENAME_EXCHANGE ? EXCHANGE : RENAME, a[0], a[1], a[2], a[3]); break;
  case SYS_linkat: names(tid, change, LINK, a[0], a[1], a[2], a[3]); break;
  case SYS_unlinkat: names(tid, change, REMOVE, a[0], a[1], 0, 0); break;
  case SYS_mkdirat: names(tid, change, MKDIR, a[0], a[1], 0, 0); break;
  case SYS_write: case SYS_pwrite64:
    on_file(tid, change, WRITE, a[0]);
    change->address = a[1];
    change->length = a[2];
    if (info->seccomp.nr == SYS_pwrite64) change->offset = a[3];
    break;
  case SYS_writev: case SYS_pwritev:
    on_file(tid, change, WRITE, a[0]);
    if (change->kind && a[2] != 1) die("a write of several parts");
    if (change->kind && read_memory(tid, a[1], &part, sizeof part)) {
      change->address = (uintptr_t)part.iov_base;
      change->length = part.iov_len;
      if (info->seccomp.nr == SYS_pwritev) change->offset = a[3];
    }
    break;
  case SYS_ftruncate:
    on_file(tid, change, TRUNCATE, a[0]);
    change->offset = a[1];
    break;
  case SYS_fsync: case SYS_fdatasync: on_file(tid, change, SYNC, a[0]); break;
  case SYS_fallocate: case SYS_sendfile: on_file(tid, change, TRUNCATE, a[0]); return change->kind ? ENOSYS : 0;
  case SYS_copy_file_range: on_file(tid, change, TRUNCATE, a[2]); return change->kind ? ENOSYS : 0;
  }
  return 0;
}

static void record(int tid, const struct change *change, long result) {
  char link[64];
  struct stat now;
  const char *one = below(change->one);
  switch (change->kind) {
  case CREATE:
    snprintf(link, sizeof link, "/proc/%d/fd/%ld", tid, result);
    if (!stat(link, &now) && S_ISREG(now.st_mode)) note(CREATE, now.st_ino, 0, one, strlen(one), NULL);
    break;
  case WRITE: {
    char *data = malloc(result);
    if (!data || !read_memory(tid, change->address, data, result)) die("reading what was written");
    note(WRITE, change->inode, change->offset, data, result, NULL);
    free(data);
    break;
  }
  case TRUNCATE: case SYNC: note(change->kind, change->inode, change->offset, NULL, 0, NULL); break;
  case RENAME: case EXCHANGE: case LINK: note(change->kind, 0, 0, one, strlen(one), below(change->other)); break;
  default: note(change->kind, 0, 0, one, strlen(one), NULL);
  }
}

/* One system call of the program, from its beginning to its end. */
static void handle(int tid, int leader) {
  static struct change change;
  struct ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) < 0) return;
  memset(&change, 0, offsetof(struct change, one));
  change.one[0] = change.other[0] = 0;
  change.inode = change.offset = change.address = change.length = 0;
  int refused = understand(tid, &info, &change);
  if (change.kind == MESSAGE) {
    if (++count > after) {
      /* Half of the messages arrive, and nobody hears the answer. */
      if (after & 1) finish(tid);
      kill(leader, SIGKILL);
    }
  } else if (change.kind != NOTHING) {
    if (log_fd >= 0) flock(log_fd, LOCK_EX);
    int error = refused ? refused : fails(change.kind);
    int is_first = count == after + 1;
    if (!refused && error == EINTR) {
      /* Some writes are killed halfway. */
      if (change.kind == WRITE && change.length > 1 && (after & 1)) {
        shorten(tid, change.length / 2);
        finish(tid);
      }
      kill(leader, SIGKILL);
    } else if (error == ENOSPC && is_first && change.kind == WRITE && change.length > 1 && !refused) {
      shorten(tid, change.length / 2);
      long result = finish(tid);
      if (result > 0) record(tid, &change, result);
    } else if (error || (log_fd >= 0 && (change.kind == SYNC || change.kind == SYNCDIR))) {
      skip(tid);
      finish(tid);
      answer(tid, -error);
      if (!error) record(tid, &change, 0);
    } else {
      long result = finish(tid);
      if (result > 0 || (result == 0 && change.kind != WRITE)) record(tid, &change, result);
    }
    if (log_fd >= 0) flock(log_fd, LOCK_UN);
  }
  ptrace(PTRACE_CONT, tid, 0, 0);
}

static void install_filter(void) {
  struct sock_filter filter[TRACED + 3];
  size_t n = 0;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < TRACED; i++) filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, traced[i], TRACED - i, 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  struct sock_fprog program = {n, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) die("seccomp");
}

static void run(char **argv) {
  if (ptrace(PTRACE_TRACEME, 0, 0, 0)) die("ptrace: this system does not allow it");
  raise(SIGSTOP);
  install_filter();
  execvp(argv[0], argv);
  die(argv[0]);
}

int main(int argc, char **argv) {
  const char *dir = getenv("TORTURE_ROOT"), *path = getenv("TORTURE_LOG"), *name = getenv("TORTURE_FAULT");
  if (argc < 2 || !dir) return 125;
  snprintf(root, sizeof root, "%s", dir);
  root_length = strlen(root);
  if (path && (log_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)) < 0) die(path);
  if (name) fault = !strcmp(name, "kill") ? KILL : !strcmp(name, "enospc") ? NOSPACE : !strcmp(name, "eio") ? BROKEN : !strcmp(name, "message") ? AT_MESSAGE : READONLY;
  after = number("TORTURE_AFTER");
  duration = number("TORTURE_FOR");

  int status, leader = fork();
  if (leader < 0) die("fork");
  if (!leader) run(argv + 1);
  if (waitpid(leader, &status, 0) < 0 || !WIFSTOPPED(status)) die("waiting for the program");
  long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                 PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD;
  if (ptrace(PTRACE_SETOPTIONS, leader, 0, options)) die("ptrace options");
  ptrace(PTRACE_CONT, leader, 0, 0);
  for (;;) {
    int tid = waitpid(-1, &status, __WALL);
    if (tid < 0) return 125;
    if (tid == leader && WIFEXITED(status)) return WEXITSTATUS(status);
    if (tid == leader && WIFSIGNALED(status)) {
      signal(WTERMSIG(status), SIG_DFL);
      raise(WTERMSIG(status));
    }
    if (!WIFSTOPPED(status)) continue;
    int event = status >> 16, stopped = WSTOPSIG(status);
    if (event == PTRACE_EVENT_SECCOMP) handle(tid, leader);
    else ptrace(PTRACE_CONT, tid, 0, event || stopped == SIGSTOP || stopped == (SIGTRAP | 0x80) ? 0 : stopped);
  }
}
