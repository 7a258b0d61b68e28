# Daily work. `just` lists the recipes; each is one line that also works without just.

default:
    @just --list

# The command line's story in a temporary home
story:
    scripts/story

# All tests
test:
    scripts/test

# The panel's JavaScript: formatting and types (`just panel --write` formats it)
panel *options:
    scripts/panel-check {{options}}

# Formatting, lints and docs, as CI checks them
lint: panel
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Write the generated references in docs/ anew
docs:
    UPDATE_DOCS=1 cargo test -p throughline --test docs

# Speed, as ratios
bench what="recall":
    cargo run --release -p throughline-benches -- {{what}}

# Retrieval quality on a data set
quality dir:
    cargo run --release -- bench recall {{dir}}

# Eight processes, a hundred kills
torture:
    scripts/torture

# Two machines on one server: clients killed, the server restarted, the network cut
machines:
    scripts/machines

# Ten thousand kills, power cuts and broken disks
crashes batches="50":
    BATCHES={{batches}} scripts/crashes

# Every fault, and docs/reliability.md anew
reliability *options:
    scripts/reliability {{options}}

# Simulated processes, faults and interleavings
simulate seeds="5000":
    scripts/simulate {{seeds}}

# Hostile input, guided by coverage
fuzz *targets:
    scripts/fuzz {{targets}}

# A daemon whose database is moved, replaced, truncated, deleted, overwritten or garbled
vanish runs="50":
    RUNS={{runs}} scripts/vanish

# Servers whose parents die: none may be left
orphans count="1000":
    scripts/orphans {{count}}

# Licences and sources of what we depend on (needs cargo-deny)
deny:
    cargo deny --log-level error check licenses bans sources

# Known vulnerabilities of what we depend on (needs cargo-deny, and the network for the database of advisories)
advisories:
    cargo deny check advisories
