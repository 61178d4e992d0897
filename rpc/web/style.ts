import { createHash } from 'node:crypto'

/** The style sheet of all pages. Text has a contrast of at least 4.5 to 1 in the light and in the dark scheme. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fcfbf8;--raised:#f4f1ea;--ink:#1d1c1a;--soft:#5d584e;--line:#ddd7cb;--mark:#0a5c44;--warn:#8f3d0a;--good:#0a5c44;
--serif:"Iowan Old Style",Charter,"Source Serif 4",Georgia,"DejaVu Serif",serif;--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;--mono:ui-monospace,"SF Mono","Cascadia Mono",Menlo,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{--paper:#131518;--raised:#1b1e22;--ink:#e9e6df;--soft:#aba596;--line:#34383e;--mark:#79d3b0;--warn:#f0a878;--good:#79d3b0}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;font:1rem/1.55 var(--sans);color:var(--ink);background:var(--paper)}
h1,h2,h3,p,dl,dd,ul,pre,figure{margin:0;padding:0}
ul{list-style:none}
a{color:var(--mark);text-decoration-thickness:1px;text-underline-offset:.18em;overflow-wrap:anywhere}
a:hover{text-decoration-thickness:2px}
.none{color:var(--soft)}
:focus-visible{outline:3px solid var(--mark);outline-offset:3px;border-radius:2px}
code,pre,kbd{font-family:var(--mono);font-size:.875em}
.wrap{max-width:72rem;margin:0 auto;padding:0 1.25rem}
.skip{position:absolute;left:-200vw;background:var(--paper);padding:.5rem 1rem}.skip:focus{left:1rem;top:.5rem;z-index:1}
.top{border-bottom:1px solid var(--line)}
.top .wrap{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:baseline;padding-top:.9rem;padding-bottom:.9rem}
.brand{font:600 1.2rem/1.2 var(--serif);color:var(--ink);text-decoration:none;margin-right:auto}
.top nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.top nav a{color:var(--soft);text-decoration:none;padding:.2rem 0}.top nav a:hover,.top nav a[aria-current]{color:var(--ink);text-decoration:underline}
main.wrap{padding-top:clamp(1.75rem,1rem + 3vw,3.25rem);padding-bottom:4.5rem;outline-offset:-3px}
h1{font:600 clamp(1.9rem,1.4rem + 2.2vw,2.75rem)/1.12 var(--serif);letter-spacing:-.012em;text-wrap:balance;overflow-wrap:anywhere}
h2{font:600 1.35rem/1.25 var(--serif)}
h3{font-size:1rem;font-weight:600}
.lede{font-size:1.125rem;color:var(--soft);max-width:44rem;margin-top:.75rem;text-wrap:pretty;overflow-wrap:anywhere}
.soft{color:var(--soft)}.small{font-size:.875rem}
.crumbs{font-size:.875rem;color:var(--soft);margin-bottom:.75rem}
section{margin-top:2.75rem}section>h2{margin-bottom:.75rem}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));border-top:2px solid var(--ink);border-bottom:1px solid var(--line);margin-top:2rem}
.facts>div{padding:.7rem 1rem .8rem 0}
dt{font-size:.8125rem;color:var(--soft)}
.facts dd{font-size:1.2rem;font-variant-numeric:tabular-nums lining-nums;overflow-wrap:anywhere;line-height:1.35}
.facts dd small,.figures dd small{display:block;font-size:.8125rem;color:var(--soft)}
form{display:grid;grid-template-columns:1fr;gap:.75rem 1rem;margin-top:2rem;align-items:end}
form>div{display:grid;gap:.25rem}
label{font-size:.875rem;font-weight:600}
input,select,button{font:inherit;color:inherit;min-height:2.75rem;border-radius:.25rem;border:1px solid var(--soft);background:var(--paper);padding:.45rem .75rem;width:100%;min-width:0}
button{background:var(--ink);color:var(--paper);border-color:var(--ink);font-weight:600;cursor:pointer;padding-inline:1.5rem}
button:hover{background:var(--mark);border-color:var(--mark)}
.tally{margin-top:1.5rem;color:var(--soft)}
.heads{display:none}
.rows{margin-top:.75rem;border-top:2px solid var(--ink)}
.row{display:grid;gap:.9rem 2.5rem;padding:1.2rem 0;border-bottom:1px solid var(--line)}
.row h2{font-size:1.2rem}
.row h2 a{color:var(--ink);text-decoration-color:var(--line)}.row h2 a:hover{color:var(--mark);text-decoration-color:currentColor}
.row .about{margin-top:.35rem;font-size:.9375rem;max-width:44rem;line-height:1.5;text-wrap:pretty;overflow-wrap:anywhere}
.id{color:var(--soft);font-size:.875rem;margin-top:.15rem;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.75rem 1.25rem;align-content:start}
.figures dd{font-variant-numeric:tabular-nums lining-nums;line-height:1.35;overflow-wrap:anywhere}
.figures .price dd{font-weight:600}.figures .price small{font-weight:400}
.state{display:inline-flex;gap:.45rem;align-items:baseline}
.state::before{content:"";flex:none;width:.55rem;height:.55rem;border-radius:50%;background:var(--good)}
.state.off{color:var(--warn)}.state.off::before{background:none;border:2px solid var(--warn)}
.banner{margin-top:1.25rem;font-weight:600;overflow-wrap:anywhere}.banner small{font-size:1rem;font-weight:400;color:var(--soft)}
.page{display:grid;gap:0 4rem;grid-template-columns:minmax(0,1fr)}
.side{margin-top:2rem}
.side section{margin-top:0;padding:1rem 0 1.1rem;border-top:2px solid var(--ink)}.side section+section{margin-top:1.5rem}
.side h2{font-size:1.1rem}
.pairs>div{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;padding:.4rem 0;border-bottom:1px solid var(--line)}
.pairs dd{font-variant-numeric:tabular-nums lining-nums;text-align:right;margin-left:auto;overflow-wrap:anywhere}
.pairs dt{font-size:.9375rem}
.side p+p,.pairs+p{margin-top:.6rem}
.cost{padding:.4rem 0 .7rem;border-bottom:1px solid var(--line)}
.cost.first dd{font:600 2rem/1.2 var(--serif)}
.cost dd{font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums lining-nums;overflow-wrap:anywhere}
.cost dd small{display:block;font-weight:400;font-size:.875rem;color:var(--soft)}
.how{margin-top:1.25rem}.how>h3{margin-bottom:.35rem}.how>p{margin-bottom:.5rem}
pre{background:var(--raised);border:1px solid var(--line);border-radius:.25rem;padding:.85rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.5;tab-size:2}
pre.tall{max-height:32rem;overflow-y:auto}
p code,dd code,li code{background:var(--raised);border-radius:.2rem;padding:.08em .3em;overflow-wrap:anywhere}
.chips{display:flex;flex-wrap:wrap;gap:.5rem}
.chips a{display:inline-block;border:1px solid var(--line);border-radius:2rem;padding:.3rem .85rem;text-decoration:none;font-size:.9375rem}.chips a:hover{border-color:var(--mark)}
.chips span{color:var(--soft)}
.list{columns:1;column-gap:3.5rem;margin-top:1.25rem}.more{margin-top:1rem}
.list li{display:flex;gap:1rem;justify-content:space-between;align-items:baseline;padding:.42rem 0;border-bottom:1px solid var(--line);break-inside:avoid}
.list span{color:var(--soft);font-variant-numeric:tabular-nums;white-space:nowrap}
.links li{display:grid;gap:0 1.5rem;padding:.5rem 0;border-bottom:1px solid var(--line)}
.plain{max-width:34rem}form.plain,form.line{margin-top:1rem}form.plain{grid-template-columns:minmax(0,1fr)}form.line{display:block}
.plain button,.line button{justify-self:start;width:auto}
.trio{display:grid;gap:.75rem 1rem;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));align-items:start}.trio>div{display:grid;gap:.25rem}
textarea{font:.875rem/1.5 var(--mono);color:inherit;border-radius:.25rem;border:1px solid var(--soft);background:var(--paper);padding:.6rem .75rem;width:100%;min-width:0;min-height:9rem;resize:vertical}
.hint{font-size:.875rem;color:var(--soft)}
.wrong{font-size:.875rem;font-weight:600;color:var(--warn)}
[aria-invalid=true]{border:2px solid var(--warn)}
.check{display:flex;gap:.65rem;align-items:center}.check input{width:1.4rem;min-height:1.4rem;flex:none}
.notice{border-left:4px solid var(--mark);background:var(--raised);padding:.75rem 1rem;margin-top:1.5rem}.notice.bad{border-color:var(--warn)}
button.quiet{background:none;color:inherit;border-color:var(--soft);font-weight:400}button.quiet:hover{border-color:var(--mark);color:var(--mark)}
.secret{user-select:all;font-size:1.0625rem;border:2px solid var(--mark);word-break:break-all}
.pager{display:flex;gap:1.5rem;margin-top:1rem}
.row h3{font:600 1.2rem/1.25 var(--serif)}.pairs.small{margin-top:.5rem;max-width:44rem}.pairs.small>div{display:grid;grid-template-columns:8.5rem minmax(0,1fr)}.pairs.small dt,.pairs.small dd{font-size:.875rem;margin-left:0;text-align:left}
.row details{grid-column:1}summary{cursor:pointer;color:var(--mark)}
.plainlist{list-style:disc;margin:.25rem 0 0;padding-left:1.25rem;font-size:.9375rem;max-width:44rem}ol.plainlist{list-style:decimal}.how p{max-width:44rem;overflow-wrap:anywhere}
.scroll{overflow-x:auto;margin-top:1rem;border:1px solid var(--line)}table{border-collapse:collapse;font-size:.875rem}th,td{text-align:left;vertical-align:top;padding:.5rem .75rem;border-bottom:1px solid var(--line);min-width:7rem}th{white-space:nowrap}
.foot{border-top:1px solid var(--line);color:var(--soft);font-size:.875rem;padding:1.25rem 0 2rem}
@media (min-width:40rem){form{grid-template-columns:minmax(0,1fr) 14rem auto}form.plain{grid-template-columns:minmax(0,1fr)}.figures{grid-template-columns:repeat(4,minmax(0,1fr))}.list{columns:2}.links li{grid-template-columns:16rem 1fr}}
@media (min-width:64rem){.scroll table{width:100%;table-layout:fixed;font-size:.8125rem}.scroll :is(th,td){min-width:0;padding:.5rem .4rem;white-space:normal;overflow-wrap:anywhere}.row,.heads{grid-template-columns:minmax(0,1fr) 30rem}.figures,.heads>div{grid-template-columns:6rem 7rem 5.25rem minmax(0,1fr);gap:0 1.1rem}
.heads{display:grid;gap:0 2.5rem;margin-top:.75rem;font-size:.8125rem;color:var(--soft)}.heads>div{display:grid}.heads+.rows{margin-top:.35rem}
.rows .figures dt{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}.rows dl>div{position:relative}.row h2{margin-top:-.1rem}
.page{grid-template-columns:minmax(0,1fr) 20rem;grid-template-rows:auto 1fr}.page>header{grid-column:1}.side{grid-column:2;grid-row:1/span 2;margin-top:0}}
`

/** Content-Security-Policy of the pages: their style and the `data:` icon, forms to this node, and nothing else. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
