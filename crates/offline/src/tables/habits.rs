//! What a person or their team does as a rule, in English and Chinese.

use super::{check, check_kind};

#[test]
fn rules_of_a_team() {
    check_kind(
        "constraint",
        &[
            "We always squash before merging.",
            "We never deploy on Fridays.",
            "We never push to main without a review.",
            "We always write dates as ISO 8601.",
            "我们从不在周五部署。",
            "我们总是先写测试再写代码。",
            "我们一直用四个空格缩进。",
        ],
    );
    check_kind("preference", &["We usually meet at nine on Mondays.", "I usually commit in small steps."]);
    check("Btw, we never deploy on Fridays.", "constraint: we never deploy on Fridays.");
}

#[test]
fn tools_and_places() {
    check_kind(
        "fact",
        &[
            "I use Helix for everything in Rust.",
            "I use fish as my shell.",
            "I use a Framework 13 with Linux.",
            "I mostly use Firefox.",
            "We use Postgres 16 for orders.",
            "We use Linear for tickets.",
            "Our staging database is Postgres 16.",
            "Our API listens on port 8443.",
            "Our CI runs on GitLab.",
            "Our office is in Bern.",
            "Our backend is written in Elixir.",
            "我们用飞书沟通。",
            "我用 Mac 办公。",
            "我用的是 iPhone 15。",
            "我们的数据库是 Postgres。",
            "我们的服务跑在 8080 端口。",
        ],
    );
}

#[test]
fn negatives() {
    check_kind(
        "",
        &[
            "I use it.",
            "I use it for tests.",
            "I use this for tests.",
            "I use Docker right now to test the build.",
            "For now, we use SQLite.",
            "Today we use SQLite.",
            "Do you think we use Postgres?",
            "Should we use Postgres?",
            "If we use Postgres, the queue is easy.",
            "If I use Postgres, then what?",
            "Maybe we use Postgres.",
            "I use React but the page stays blank.",
            "I use Axios and get a 404.",
            "I use useEffect to fetch data.",
            "I use `cargo run` for the server.",
            "I use Vec::new() here.",
            "I use the same approach.",
            "I use loops for this.",
            "I use words.",
            "We use your suggestion.",
            "She said we use Postgres.",
            "For example, we use Postgres.",
            "We always wanted a dog.",
            "We always get an error on Windows.",
            "We never agreed on a date.",
            "We never got a reply.",
            "We never know.",
            "We never did.",
            "Do we always squash?",
            "Our build is broken.",
            "Our CI is failing on Windows.",
            "Our API is down since Monday.",
            "Our tests are red on Linux.",
            "Our plan is to leave.",
            "Our server is slow.",
            "Our server crashed at 9:40.",
            "\"We never deploy on Fridays\" is what they say.",
            "我用这个。",
            "我用了 Docker。",
            "我用 Docker 报错了。",
            "我用户名登录。",
            "我们用什么？",
            "我们用 Docker 吗？",
            "现在我们用 Docker 部署。",
            "如果我们用 Docker 部署。",
            "我们一直在等。",
            "我们一直没决定。",
            "我们的测试是红的。",
            "我们的服务是 8080 端口报错。",
            "我们的想法是先等等。",
        ],
    );
}
