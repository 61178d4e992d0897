import { createHash } from 'node:crypto'
import { nativeSupply } from '../../consensus/ledger/supply.ts'
import { formatAmount } from '../../consensus/primitives/amount.ts'
import type { NodeApi } from '../node.ts'
import { registryEntries } from '../registry.ts'

/** Makes text safe inside HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const STYLE = `
:root{color-scheme:light dark;--ink:#17202a;--soft:#52606d;--line:#d9e0e6;--ground:#fbfcfd;--mark:#0b6e4f}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--soft:#a3b1bf;--line:#33404c;--ground:#12181e;--mark:#5fd0a5}}
*{box-sizing:border-box}body{margin:0;font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--ground)}
main{max-width:60rem;margin:0 auto;padding:2rem 1rem}h1{font-size:1.8rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{margin:.4rem 0;color:var(--soft)}dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1.5rem 0}
dl div{border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem}dt{font-size:.8rem;color:var(--soft)}dd{margin:0;font-size:1.15rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.45rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
th{font-size:.8rem;color:var(--soft)}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td code{white-space:nowrap}pre{overflow-x:auto;padding:.8rem;border:1px solid var(--line);border-radius:.5rem}a{color:var(--mark)}code{font-family:ui-monospace,monospace;font-size:.92em}
`

/** Nothing but the page's own style: no script, no frame, no other origin. */
export const HOME_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`

/** The page at `/`: what this node is, what it sells, and how to call it. */
export function homePage(node: NodeApi, baseUrl: string): string {
  const { chain, mempool } = node
  const { params } = chain.ruleBook
  const { minted, burned } = nativeSupply(chain.database)
  const facts: readonly (readonly [string, string])[] = [
    ['Height', String(chain.head.header.height)],
    ['Last block', new Date(chain.head.header.timeMs).toISOString().replace('T', ' ').slice(0, 19)],
    ['Waiting transactions', String(mempool.count)],
    ['Circulating', `${formatAmount((minted - burned) / 10n ** 6n, params.decimals - 6)} ${params.ticker}`],
    ['Hashes per second', String(Math.round(node.mining().hashesPerSecond))],
    ['Peers', String(node.peerCount())],
  ]
  const tiles = facts
    .map(([name, value]) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd></div>`)
    .join('')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Farthing node, ${escapeHtml(params.name)}</title><style>${STYLE}</style></head>
<body><main><h1>Farthing</h1><p>A full node of the ${escapeHtml(params.name)} that sells services to AI agents.</p>
<dl>${tiles}</dl>
<h2>Services</h2>${serviceTable(node, baseUrl)}
<h2>Call one</h2><pre><code>npx farthing call node-network-stats --rpc ${escapeHtml(baseUrl)}</code></pre>
<h2>For programs</h2><p>${links(baseUrl)}</p></main></body></html>
`
}

function serviceTable(node: NodeApi, baseUrl: string): string {
  const entries = registryEntries(node, baseUrl)
  if (entries.length === 0) return '<p>This node sells no services.</p>'
  const rows = entries.map(
    ({ serviceId, description, priceUsd, priceNative, available, unavailableReason, provenCalls }) => {
      const state = available ? 'available' : `unavailable: ${unavailableReason}`
      const cells = [`<td><code>${escapeHtml(serviceId)}</code></td>`, `<td>${escapeHtml(description)}</td>`]
      return `<tr>${cells.join('')}<td class="n">$${priceUsd}</td><td class="n">${priceNative}</td><td class="n">${provenCalls}</td><td>${escapeHtml(state)}</td></tr>`
    },
  )
  const head = ['Service', 'Returns', 'Price', node.chain.ruleBook.params.ticker, 'Proven calls', 'State'].map(
    (name) => `<th scope="col">${name}</th>`,
  )
  return `<div class="wide"><table><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function links(baseUrl: string): string {
  const paths = ['/services.json', '/.well-known/x402', '/openapi.json', '/api/v1/status', '/api/v1/blocks', '/metrics']
  return paths.map((path) => `<a href="${escapeHtml(baseUrl + path)}">${path}</a>`).join(' · ')
}
