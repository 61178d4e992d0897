import { CARDS } from '../../../marketplace/chat/info/cards.ts'
import { secondsText } from '../../../marketplace/chat/info/figures.ts'
import { stagesOf } from '../../../marketplace/chat/info/model-info.ts'
import type { PlatformFacts } from '../../../marketplace/chat/info/platform-info.ts'
import {
  COMPARISON_FIELDS,
  type ModelInfo,
  type PlatformInfo,
  type TierSpeed,
} from '../../../marketplace/chat/info/shapes.ts'
import { shellWord } from '../../discovery/plain-text.ts'
import { counted, figure, unknownText } from '../../web/figures.ts'
import { type Html, html, NOTHING } from '../../web/html.ts'
import { pageText } from '../../web/layout.ts'

/** `/chat`: what the chat platform is, how to call it, the state of its models, and questions about it. */
export function chatPage({ info, faq }: PlatformFacts, baseUrl: string): string {
  const key = faq.find(({ id }) => id === 'key')
  return pageText({
    title: 'Free chat with five models',
    description: info.description,
    canonical: info.urls.docs,
    json: '/api/v1/info',
    here: '/chat',
    hasChat: true,
    main: html`<header><h1>Free chat with five models</h1>
<p class="lede">${info.description}</p>
${factsMarkup(info)}</header>
<section id="key"><h2>Get a key</h2><p>${linked(key?.answer ?? '', baseUrl)}</p></section>
${callSection(baseUrl)}
<section id="models"><h2>Models</h2>
<p class="soft">Times are from the question to the whole answer, measured here over the last 24 hours.</p>
${MODEL_HEADS}<ul class="rows">${info.models.map(modelRow)}</ul></section>
${comparisonSection(info)}
<section id="faq"><h2>Questions</h2>${faq.map(
      ({ id, question, answer }) =>
        html`<div class="how" id="faq-${id}"><h3>${question}</h3><p>${linked(answer, baseUrl)}</p></div>`,
    )}</section>
<section id="programs"><h2>For programs</h2><ul class="links">${DOCUMENTS.map(([path, note]) => html`<li><a href="${path}">${path}</a> <span class="soft">${note}</span></li>`)}</ul></section>`,
  })
}

/** `/chat` without a platform. */
export function noChatPage(baseUrl: string): string {
  return pageText({
    title: 'No chat here',
    description: 'The operator of this node has turned the chat platform off.',
    canonical: `${baseUrl}/chat`,
    json: '/api/v1',
    main: html`<h1>No chat here</h1>
<p class="lede">The operator of this node has turned the chat platform off. <a href="/">What this node is</a></p>`,
  })
}

const DOCUMENTS: readonly (readonly [string, string])[] = [
  ['/api/v1/info', 'everything on this page as JSON, and more'],
  ['/api/v1/info/models', 'the models'],
  ['/api/v1/info/compare', 'the models side by side'],
  ['/api/v1/info/openapi', 'the whole API'],
  ['/api/v1/models', 'the models as clients of OpenAI list them'],
  ['/llms.txt', 'what language models should know of this node'],
]

function factsMarkup({ models, underlying_model_count: count, total_parameters: parameters }: PlatformInfo): Html {
  const usable = models.filter(({ available }) => available).length
  return html`<dl class="facts">${[
    figure(
      'Available now',
      `${usable} of ${models.length}`,
      usable === models.length ? 'every model' : 'the others say why not',
    ),
    figure('Behind them', counted(count, 'language model'), 'configured by the operator'),
    figure('Parameters', parameters, parameters === 'unknown' ? 'none are declared' : 'as the operator declares them'),
    figure('Price', 'free', 'within the limits of a key'),
  ]}</dl>`
}

function callSection(baseUrl: string): Html {
  const body = JSON.stringify({ model: 'model-2', messages: [{ role: 'user', content: 'Hello!' }] })
  const curl = [
    `curl ${shellWord(`${baseUrl}/api/v1/chat/completions`)}`,
    `  -H "Authorization: Bearer $API_KEY"`,
    `  -H 'content-type: application/json'`,
    `  -d ${shellWord(body)}`,
  ].join(' \\\n')
  const base = JSON.stringify(`${baseUrl}/api/v1`)
  const python = `import os
from openai import OpenAI

client = OpenAI(base_url=${base}, api_key=os.environ["API_KEY"])
answer = client.chat.completions.create(
    model="model-2",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`
  const script = `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${base}, apiKey: process.env.API_KEY })
const answer = await client.chat.completions.create({
  model: 'model-2',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.choices[0].message.content)`
  const ask = `curl ${shellWord(`${baseUrl}/api/v1/info/qa`)} \\\n  -H 'content-type: application/json' \\\n  -d ${shellWord('{"question":"Which models work right now?"}')}`
  return html`<section id="call"><h2>Call it</h2>
${examples([
  ['In a shell', curl],
  ['With the OpenAI client for Python', python],
  ['With the OpenAI client for JavaScript', script],
  ['Ask about the platform itself: no key', ask],
])}</section>`
}

function examples(all: readonly (readonly [string, string])[]): readonly Html[] {
  return all.map(([name, text]) => html`<div class="how"><h3>${name}</h3><pre><code>${text}</code></pre></div>`)
}

/** Column heads of a wide window; in narrow ones the names stand beside the figures. */
const MODEL_HEADS = html`<div class="heads" aria-hidden="true"><span>Model</span><div><span>Half within</span><span>95 % within</span><span>Answers</span><span>State</span></div></div>`

function lowered(phrase: string): string {
  return phrase.charAt(0).toLowerCase() + phrase.slice(1)
}

function modelRow(model: ModelInfo): Html {
  const { id, name, tagline, measured, context_window: size, powered_by: behind, parameters } = model
  const time = (ms: number | undefined): Html | string => (ms === undefined ? unknownText('not yet') : secondsText(ms))
  return html`<li class="row" id="${id}">
<div><h3>${name}: ${lowered(tagline)}</h3>
<p class="id"><code>${id}</code></p>
<dl class="pairs small">${[
    pair('Context window', size),
    pair('Models behind it', behind),
    pair('Parameters', parameters),
    pair('Good for', model.best_for.map((use, i) => (i === 0 ? use : lowered(use))).join(', ')),
  ]}${(model.tiers ?? []).map(tierPair)}</dl></div>
<dl class="figures">
<div><dt>Half within</dt><dd>${time(measured?.p50_ms)}</dd></div>
<div><dt>95 % within</dt><dd>${time(measured?.p95_ms)}</dd></div>
<div><dt>Answers</dt><dd>${measured?.count ?? 0}</dd></div>
<div><dt>State</dt><dd>${stateOf(model)}</dd></div>
</dl>
<details><summary>Stages, abilities and limits</summary>
<p class="about">${CARDS[id].how}</p>
<p class="more"><strong>Stages</strong></p><ol class="plainlist" aria-label="Stages of ${name}">${stagesOf(id).map((stage) => html`<li>${stage.name}: ${stage.about}</li>`)}</ol>
${listed(`What ${name} can do`, 'It can', model.capabilities)}${listed(`Limits of ${name}`, 'Limits', model.limitations)}</details></li>`
}

function stateOf({ available, unavailable_reason: reason = '' }: ModelInfo): Html {
  if (available) return html`<span class="state">available</span>`
  return html`<span class="state off">unavailable</span> <small>${reason}</small>`
}

function pair(name: string, value: string | Html): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

function tierPair({ tier, budget_ms: { from, to }, measured }: TierSpeed): Html {
  const aim = from === to ? secondsText(from) : `${secondsText(from)} to ${secondsText(to)}`
  const real = measured === null ? 'not measured yet' : `${secondsText(measured.p50_ms)} over ${measured.count}`
  return pair(`Tier ${tier}`, `aims at ${aim}; ${real}`)
}

function listed(label: string, name: string, texts: readonly string[]): Html {
  if (texts.length === 0) return NOTHING
  return html`<p class="more"><strong>${name}</strong></p><ul class="plainlist" aria-label="${label}">${texts.map((text) => html`<li>${text}</li>`)}</ul>`
}

/** Addresses that take POST only, so they must not become links. */
const POSTED = /\/(completions|qa)$|\/api\/x402\//

function linked(text: string, baseUrl: string): readonly Html[] {
  return text.split(/(\s+)/).map((word) => {
    const address = word.replace(/[.,:;!?)]+$/, '')
    if (!address.startsWith(`${baseUrl}/`) || POSTED.test(address)) return html`${word}`
    return html`<a href="${address.slice(baseUrl.length)}">${address}</a>${word.slice(address.length)}`
  })
}

/** Other products come from the operator's settings. */
function comparisonSection({ models, comparison_vs_external: others }: PlatformInfo): Html {
  const products = Object.entries(others)
  const about =
    products.length === 0
      ? 'The operator of this node says nothing of other products; these are its own models.'
      : 'What stands here of other products was written by the operator of this node, and not measured by it.'
  const heads = COMPARISON_FIELDS.map((field) => html`<th scope="col">${field.replace('_', ' ')}</th>`)
  return html`<section id="comparison"><h2>Comparison</h2><p class="soft">${about}</p>
<div class="scroll" role="region" aria-label="Comparison" tabindex="0"><table><thead><tr><td></td>${heads}</tr></thead>
<tbody>${models.map((model) => row(model.id, ownCells(model)))}${products.map(([product, facts]) =>
    row(
      product,
      COMPARISON_FIELDS.map((field) => facts[field]),
    ),
  )}</tbody></table></div></section>`
}

function row(name: string, cells: readonly (string | Html)[]): Html {
  return html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`
}

/** The quality of answers has not been measured. */
function ownCells({
  parameters,
  pricing,
  context_window: size,
  speed,
  capabilities,
}: ModelInfo): readonly (string | Html)[] {
  const has = (part: string): string => (capabilities.some((text) => text.startsWith(part)) ? 'yes' : 'no')
  const known: Readonly<Record<string, string>> = {
    parameters,
    pricing,
    context_window: size,
    multimodal: has('Pictures in'),
    web_search: has('Web search'),
    speed,
  }
  return COMPARISON_FIELDS.map((field) => known[field] ?? unknownText('not measured'))
}
