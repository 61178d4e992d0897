import { resolveConfig } from '../../config/load.ts'
import { PROVIDER_NAMES } from '../../config/outside-settings.ts'
import type { ServiceContext } from '../../marketplace/services/context.ts'
import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { withTextsCut } from '../../rpc/market/sample-texts.ts'
import { openOutside } from '../../src/adapters/open-outside.ts'
import type { Stop } from '../../src/daemon/open-core.ts'
import { systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import { isOfChain } from '../support/listed-services.ts'
import { boundRows, memberRows } from './document-members.ts'

const USD_MICROS = 1_000_000
/** Longest shown text of a sample. */
const SAMPLE_CHARS_MAX = 200

/** Settings that each service lacks on an unconfigured node with the web off, by service id. */
async function settingsLacked(): Promise<Readonly<Record<string, readonly string[]>>> {
  const off = { origin: 'flag', values: { 'web.enabled': 'false' }, callsIt: (name: string) => name } as const
  const resolved = resolveConfig([off], '/')
  if (!resolved.ok) throw new Error('the defaults cannot be read')
  const stops: Stop[] = []
  const { outside: config } = resolved.value.config
  const outside = await openOutside({ config, publicUrl: null, clock: systemClock, timers: systemTimers }, stops)
  if (!outside.ok) throw new Error('the outside of a node without settings cannot be opened')
  const context = { outside: outside.value, clock: systemClock } as unknown as ServiceContext
  const lacked = SERVICE_TABLE.filter((definition) => !isOfChain(definition)).map((definition) => {
    const readiness = definition.ready(context)
    return [definition.serviceId, readiness.available ? [] : readiness.requires] as const
  })
  for (const stop of stops.reverse()) await stop()
  return Object.fromEntries(lacked)
}

const LACKED = await settingsLacked()

/** `docs/services.md`: every service from its definition. */
export function servicesDocument(): string {
  const bare = SERVICE_TABLE.filter(({ serviceId }) => (LACKED[serviceId] ?? []).length === 0)
  const webOnly = SERVICE_TABLE.filter(({ serviceId }) => String(LACKED[serviceId]) === 'web.enabled')
  return `${[
    INTRO({ all: SERVICE_TABLE.length, bare: bare.length, web: webOnly.length }),
    table(['Service', 'Dollars', 'Capability', 'Request', 'Needs'], SERVICE_TABLE.map(row)),
    ...SERVICE_TABLE.map(section),
  ].join('\n\n')}\n`
}

function row(definition: ServiceDefinition): readonly string[] {
  const { serviceId, capability, requestFormat } = definition
  const format = requestFormat === '' ? 'optional context' : `\`${requestFormat}\``
  return [`[${serviceId}](#${serviceId})`, dollars(definition), capability, format, needs(definition)]
}

function needs(definition: ServiceDefinition): string {
  if (isOfChain(definition)) return 'the chain'
  const lacked = LACKED[definition.serviceId] ?? []
  if (definition.capability === 'reports') return 'nothing; `documents.fonts` for further scripts'
  return lacked.length === 0 ? 'nothing' : lacked.map((name) => `\`${name}\``).join(' or ')
}

function section(definition: ServiceDefinition): string {
  const { serviceId, name, description, example, sample, timeoutMs, resultBytesMax, requestCharsMax } = definition
  const asked = example === '' ? 'no request is needed' : `\`${example}\``
  return [
    `## ${serviceId}`,
    `**${name}.** ${description}`,
    `Example: ${asked}. A request has at most ${requestCharsMax} characters, a result ${resultBytesMax} bytes; a call that takes longer than ${timeoutMs / 1_000} s is refunded.`,
    `\`\`\`json\n${JSON.stringify(withTextsCut(sample, SAMPLE_CHARS_MAX), null, 2)}\n\`\`\``,
  ].join('\n\n')
}

function dollars({ priceUsdMicros }: ServiceDefinition): string {
  return String(Number(priceUsdMicros) / USD_MICROS)
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

const KEYED: Readonly<Record<string, string>> = {
  prices: '`coingecko`, if you have one',
  search: '`brave`',
  weather: '`open-meteo`',
  translate: '`libretranslate`, if yours wants one',
}

const PROVIDER_ROWS = Object.entries(PROVIDER_NAMES)
  .map(([kind, names]) => `| \`providers.${kind}\` | ${names.join(', ')} | ${KEYED[kind] ?? ''} |`)
  .join('\n')

const INTRO = ({
  all,
  bare,
  web,
}: {
  readonly all: number
  readonly bare: number
  readonly web: number
}): string => `# Services

<!-- Made by \`npm run gen\` from the definitions in marketplace/services. -->

A node sells ${all} services. ${bare} of them work on any machine, ${web} need only the internet, and ${all - bare - web} need a setting, such as a provider that the operator names.

- \`npx --no farthing services\` lists what is available, and the setting that each of the others needs.
- \`npx --no farthing services test <id> [<request>]\` runs one without a payment.
- \`npx --no farthing doctor providers\` asks every configured provider whether it answers.

A service that cannot deliver is not sold: the list has the reason, its quote says \`available: false\`, and a payment for it is returned.

The quote says whether the service can use the request, before the caller pays. A service that fails, or whose result does not have the promised shape, is refunded: coins on the chain; dollars are never charged. A truthful "no" is a result: a domain that is not registered, a page that answers 404.

Every result says what made it (\`engine\`) or where it comes from (\`source\`: provider, time, whether it is stale, and the notice that the provider demands). Unknown values are null and listed in \`unknown\`.

## Providers

| Setting | Providers | Keys |
| --- | --- | --- |
${PROVIDER_ROWS}
| \`providers.ethereum\`, \`providers.base\` | JSON-RPC nodes, up to eight, in the order in which they are asked | in the address |
| \`geo.city-db\`, \`geo.asn-db\` | MMDB files on this machine | |
| \`models.file\`, \`models.gguf\` | model backends ([models.md](models.md)) | \`keyRef\` |

- Several names are separated by commas and asked in that order.
- \`name=https://...\` (or \`http://\`) gives another base address than the provider's own; the node adds the provider's paths. \`searxng=http://127.0.0.1:8888\` asks \`http://127.0.0.1:8888/search\`, \`ecb=https://proxy.example\` asks \`https://proxy.example/stats/eurofxref/eurofxref-daily.xml\`.
- SearXNG has no public address, so \`searxng\` always needs one. Its settings must list \`json\` under \`search.formats\`.
- Keys are in the file of \`providers.keys-file\`: \`{"brave": "...", "open-meteo": "..."}\`.
- A relative path counts from the folder in which the command runs, also in \`farthing.json\`.
- The node asks no host that is not named here.

\`\`\`sh
npx --no farthing start --mine-threads 1 --providers-rates ecb --providers-domains iana --providers-search searxng=http://127.0.0.1:8888
npx --no farthing doctor providers --providers-rates ecb --providers-search searxng=http://127.0.0.1:8888
\`\`\`

Or write it into \`farthing.json\` of the data folder, where both commands find it: \`{"providers": {"rates": "ecb", "search": "searxng=http://127.0.0.1:8888"}}\`.

A wrong name or an unusable file keeps the node from starting (exit code 2). A provider that does not answer, a missing key or address, or a model file that cannot be loaded does not; \`npx --no farthing services\` and \`npx --no farthing doctor providers\` (exit code 1) show it.

Read the terms of the providers that you name. The free hosts of Open-Meteo are not for paid services, so \`open-meteo\` needs a customer key or an instance of your own. MET Norway and the databases of IP addresses want to be named; results do that.

A provider that fails five times in a row, or in more than half of its last twenty calls, is not asked for 30 seconds, then for twice as long each time, up to ten minutes. If only free requests and the node's own checks failed, paid questions still reach it, unless it cannot be reached at all or refuses the key. Paid questions that it forbids (403) count as one failure in 15 seconds at most. While no provider can be asked, the service gives a kept answer, marked \`stale\`, for as long as [What is kept](#what-is-kept) says; without one it is unavailable.

## Reading the web

Services that read an address which the caller chose never connect to this machine, its networks or any address that is not public, whatever the URL, DNS or a redirect says. Foreign content is parsed in processes without network and disk, which are ended when they exceed their time or memory.

| Setting | Meaning |
| --- | --- |
| \`web.enabled\` | \`false\` turns all of it off |
| \`web.deny\` | further networks that are never reached |
| \`web.ports\` | the ports that an address may name (80,443) |
| \`web.robots\` | with \`false\`, node-web-fetch also reads what a site's robots.txt excludes |
| \`web.contact\` | an address at which the owners of sites can reach you |
| \`web.resolvers\` | the name servers to ask |

## Documents

The members of a request. Those with ? may be left out, days are YYYY-MM-DD, amounts are JSON numbers or decimal text:

${table(['member', 'what', 'taken by'], memberRows())}

How long and how large a field may be, in the words of a refusal. Length counts after Unicode composition (NFC):

${table(['takes', 'fields'], boundRows())}

\`unitPrice\` is before VAT. VAT is computed on the net sum, once for each rate. If \`pricesIncludeVat\` is true, \`unitPrice\` is what the buyer pays: the gross total is exactly the sum of the lines less the discount, VAT is rate / (100 + rate) of it, once for each rate, and net is the rest. Halves of the minor unit are rounded away from zero. Labels in the file are English.

All amounts of a result are decimal text in whole units of its \`currency\`. Besides the file, in \`pdf\`, a result has:

| member | what |
| --- | --- |
| \`lines\` | each item with \`description\`, \`qty\`, \`unitPrice\`, \`net\` (\`gross\` instead where prices include VAT), and \`vatPercent\` where it has a rate of its own |
| \`discount\` | only with a discount: \`percent\` where it was given as one, \`amount\`, and \`itemsTotal\`, the sum before it |
| \`netTotal\`, \`vatRate\`, \`vatAmount\`, \`grossTotal\` | the sum after the discount, the rate, the tax, and both together |
| \`vat\` | only where an item has a rate of its own: \`vatPercent\`, \`net\` after its share of the discount, and \`amount\` for each rate |
| \`pricesIncludeVat\` | true, only where prices do |
| \`prepaid\`, \`amountDue\` | only with \`prepaid\`: what was paid before, and \`grossTotal\` less that |
| \`issueDate\`, \`dueOrValidUntil\`, \`deliveryDate\`, \`pages\` | the days, and how many pages it has |

Latin, Greek, Cyrillic, Armenian and Georgian need no setting. Chinese, Japanese, Korean and Ethiopic need a font in \`documents.fonts\`: paths of TTF, OTF or WOFF files, no collections (TTC), separated by commas, as in \`--documents-fonts /usr/share/fonts/opentype/ipafont-gothic/ipag.ttf\`. Descriptions and refusals then name the scripts that the node prints. Scripts from right to left or with joined letters cannot be printed with any font.

## What is kept

A result that depends only on the request and the newest block is computed once per block. Texts of pages are kept for a minute, feeds for five, metadata and mail domains for ten, unless the page forbids it. Documents, texts, chats and pictures are made anew for each call. A call that is repeated with its payment always has the same result.

Answers of providers are kept:

| Answer | Counts as new for | Given as \`stale\`, while no provider answers, up to |
| --- | --- | --- |
| prices | 20 s | 5 min |
| gas and balances | 6 s | 30 s |
| ENS names | 5 min | 30 min |
| searches | 1 min | |
| weather | 10 min | 2 hours |
| registrations | 1 hour | 6 hours |
| translations | 1 hour | |
| exchange rates | until the next are published | 5 days |

## All services`
