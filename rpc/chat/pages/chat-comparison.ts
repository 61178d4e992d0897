import { COMPARISON_FIELDS, type ModelInfo, type PlatformInfo } from '../../../marketplace/chat/info/shapes.ts'
import { unknownText } from '../../web/figures.ts'
import { type Html, html } from '../../web/html.ts'

/** The models beside other products, as far as the operator says something of those. */
export function comparisonSection({ models, comparison_vs_external: others }: PlatformInfo): Html {
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

/** What is known of a model of this node; how good its answers are nobody has measured. */
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
