//! Two hundred texts that would run, fetch or deceive if anything took them for more than text.

/// What would run: it notes its number where the test looks.
const CALL: &str = "window.__ran.push(NUM)";

/// Where something would be fetched from.
const ELSEWHERE: &str = "canary.invalid/NUM";

const TEMPLATES: [&str; 50] = [
    "<script>CALL</script>",
    "<SCRIPT SRC=//ELSEWHERE></SCRIPT>",
    "<scr<script>ipt>CALL</scr</script>ipt>",
    "<script type=module>CALL</script>",
    "<script>/*</script><script>*/CALL</script>",
    "<img src=x onerror=CALL>",
    "<img src=//ELSEWHERE>",
    "<img srcset='//ELSEWHERE 1x'>",
    "<image href=x onerror=CALL>",
    "<IMG \"\"\"><SCRIPT>CALL</SCRIPT>\">",
    "<svg onload=CALL>",
    "<svg><script>CALL</script></svg>",
    "<svg><animate onbegin=CALL attributeName=x dur=1s>",
    "<svg><use href='data:image/svg+xml,<svg onload=CALL>'></svg>",
    "<svg><foreignObject><iframe src=//ELSEWHERE></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=CALL>",
    "<math href=javascript:CALL>click</math>",
    "<iframe src=javascript:CALL></iframe>",
    "<iframe srcdoc='<script>parent.CALL</script>'></iframe>",
    "<object data=javascript:CALL></object>",
    "<embed src=//ELSEWHERE>",
    "<video><source onerror=CALL></video>",
    "<audio src=x onerror=CALL>",
    "<details open ontoggle=CALL>",
    "<input autofocus onfocus=CALL>",
    "<select autofocus onfocus=CALL>",
    "<textarea autofocus onfocus=CALL>",
    "<body onload=CALL>",
    "<marquee onstart=CALL>",
    "<a href=javascript:CALL>click</a>",
    "<a href='java&#9;script:CALL'>click</a>",
    "<form action=//ELSEWHERE><button>go</button></form>",
    "<base href=//ELSEWHERE/>",
    "<link rel=stylesheet href=//ELSEWHERE>",
    "<meta http-equiv=refresh content='0;url=//ELSEWHERE'>",
    "<style>@import '//ELSEWHERE';</style>",
    "<div style=\"background:url(//ELSEWHERE)\">",
    "<template><script>CALL</script></template>",
    "<noscript><p title=\"</noscript><img src=x onerror=CALL>\">",
    "<!--><img src=x onerror=CALL>-->",
    "]]><script>CALL</script><![CDATA[",
    "javascript:CALL",
    "data:text/html,<script>CALL</script>",
    "[click](javascript:CALL) ![picture](//ELSEWHERE)",
    "<javascript:CALL> <https://ELSEWHERE>",
    "${CALL} {{constructor.constructor('CALL')()}} #{CALL}",
    "'-CALL-' \"-CALL-\" `${CALL}`",
    "&lt;img src=x onerror=CALL&gt; &#60;script&#62;CALL",
    "\\u003cimg src=x onerror=CALL\\u003e %3Cscript%3ECALL",
    "expression(CALL);behavior:url(//ELSEWHERE);-moz-binding:url(//ELSEWHERE)",
];

/// The texts, each with its number in it.
pub(super) fn payloads() -> Vec<String> {
    let shells: [fn(&str) -> String; 4] = [
        |text| format!("quay {text}"),
        |text| format!("quay \"'>{text}<'\""),
        |text| format!("quay </textarea></title></style></script></option></pre>{text}"),
        |text| format!("quay \u{202e}{text}\u{202c} \u{200b}\u{ff1c}script\u{ff1e}"),
    ];
    let shelled = TEMPLATES.iter().flat_map(|template| shells.iter().map(move |shell| shell(template)));
    let numbered = shelled.enumerate().map(|(nth, text)| {
        let text = text.replace("CALL", CALL).replace("ELSEWHERE", ELSEWHERE);
        format!("{text} #{nth}").replace("NUM", &nth.to_string())
    });
    numbered.collect()
}
