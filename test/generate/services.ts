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
/** Longest text of a sample that is shown to people. */
const SAMPLE_CHARS_MAX = 200

/** Settings that each service says it lacks on a node where nothing is configured and the web is off, by service id. */
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

/** `docs/services.md`: every service as its definition has it. */
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
    `Example: ${asked}. A request has at most ${requestCharsMax} characters, a result ${resultBytesMax} bytes; what takes longer than ${timeoutMs / 1_000} s is refunded.`,
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

A node sells ${all} services. ${bare} of them work on any machine, ${web} need the internet and no setting, and ${all - bare - web} ask a provider or use something that the operator chooses. What cannot be delivered is not sold: it is listed with the reason, its quote says \`available: false\`, and a payment that is offered all the same is returned. \`npx --no farthing services\` lists what is available and which setting the rest waits for, \`npx --no farthing services test <id> [<request>]\` runs one without a payment, and \`npx --no farthing doctor providers\` asks all that are configured whether they answer.

The quote says whether the service can use the request, before the caller pays. A service that fails is refunded: on the chain for coins, and by never being charged for dollars. So is a result that does not have the promised shape. A truthful "no" is a result: a domain that is not registered, a page that answers 404.

Every result says what made it (\`engine\`) or where it comes from (\`source\`: who, when, whether it is stale, and what the provider wants said beside it). What is not known is null and named in \`unknown\`.

## Providers

| Setting | Who can be named | Keys |
| --- | --- | --- |
${PROVIDER_ROWS}
| \`providers.ethereum\`, \`providers.base\` | JSON-RPC nodes, up to eight, in the order in which they are asked | in the address |
| \`geo.city-db\`, \`geo.asn-db\` | MMDB files on this machine | |
| \`models.file\`, \`models.gguf\` | model backends ([models.md](models.md)) | \`keyRef\` |

Several names are separated by commas and asked in that order; \`name=https://...\` (or \`http://\`) names another address than the provider's own: its base, under which the provider's own paths are asked: \`searxng=http://127.0.0.1:8888\` for \`http://127.0.0.1:8888/search\`, \`ecb=https://proxy.example\` for \`https://proxy.example/stats/eurofxref/eurofxref-daily.xml\`. SearXNG has no address of its own, so \`searxng\` always needs one, and its settings must list \`json\` under \`search.formats\`. Keys are in the file that \`providers.keys-file\` names: \`{"brave": "...", "open-meteo": "..."}\`. A relative path of any setting counts from the folder in which the command is run, also where \`farthing.json\` names it. No host is asked that is not named here.

\`\`\`sh
npx --no farthing start --mine-threads 1 --providers-rates ecb --providers-domains iana --providers-search searxng=http://127.0.0.1:8888
npx --no farthing doctor providers --providers-rates ecb --providers-search searxng=http://127.0.0.1:8888
\`\`\`

The same in \`farthing.json\` of the data folder, where both commands find it: \`{"providers": {"rates": "ecb", "search": "searxng=http://127.0.0.1:8888"}}\`. A wrong name or an unusable file keeps the node from starting (exit code 2); a provider that does not answer or lacks a key or address, or a model file that cannot be loaded, does not: then \`farthing services\` and \`farthing doctor providers\` (exit code 1) say so.

Terms differ: the free hosts of Open-Meteo are not for paid services, so \`open-meteo\` needs a customer key or an own instance; MET Norway and the databases of addresses want to be named, which results do. Read the terms of whom you name.

A provider that fails five times in a row, or in more than half of its last twenty calls, is asked nothing for 30 seconds, then for twice as long each time, up to ten minutes. Where only free requests and the node's own checks failed, paid questions still reach it, unless it cannot be reached at all or refuses the key. Paid questions that it forbids (403) count as one failure in 15 seconds at most. While no provider can be asked, a kept answer is given within its bounds and marked \`stale\`; where there is none, the service is unavailable.

## Reading the web

Services that read addresses of callers never connect to this machine, its networks or any address that is not public, whatever the URL, the name system or a redirect says. \`web.deny\` adds networks, \`web.ports\` ports, \`web.enabled=false\` turns all of it off. node-web-fetch leaves alone what a site's robots.txt excludes, unless \`web.robots\` is false. \`web.contact\` is the address under which the owner of a site that is read can reach you, \`web.resolvers\` names the name servers that are asked. Content of strangers is parsed in processes that can reach neither network nor disk, and are ended when they exceed their time or memory.

## Documents

What a request takes; members with ? may be left out, days are YYYY-MM-DD, amounts are JSON numbers or decimal text:

${table(['member', 'what', 'taken by'], memberRows())}

How long and how large a field may be, as a refusal says it; length counts after composition (NFC):

${table(['takes', 'fields'], boundRows())}

\`unitPrice\` is before VAT: VAT is worked out on the net sum, once for each rate. Where \`pricesIncludeVat\` is true it is what the buyer pays: the gross total is exactly the sum of the lines less the discount, VAT is rate / (100 + rate) of it, once for each rate, and net is the rest. Halves of the minor unit are rounded away from zero. Labels in the file are English.

All amounts of a result are decimal text in whole units of its \`currency\`. Beside the file, in \`pdf\`, a result has what was worked out:

| member | what |
| --- | --- |
| \`lines\` | each item with \`description\`, \`qty\`, \`unitPrice\`, \`net\` (\`gross\` instead where prices include VAT), and \`vatPercent\` where it has a rate of its own |
| \`discount\` | only with a discount: \`percent\` where it was given as one, \`amount\`, and \`itemsTotal\`, the sum before it |
| \`netTotal\`, \`vatRate\`, \`vatAmount\`, \`grossTotal\` | the sum after the discount, the rate, the tax, and both together |
| \`vat\` | only where an item has a rate of its own: \`vatPercent\`, \`net\` after its share of the discount, and \`amount\` for each rate |
| \`pricesIncludeVat\` | true, only where prices do |
| \`prepaid\`, \`amountDue\` | only with \`prepaid\`: what was paid before, and \`grossTotal\` less that |
| \`issueDate\`, \`dueOrValidUntil\`, \`deliveryDate\`, \`pages\` | the days, and how many pages it has |

Nothing is needed for Latin, Greek, Cyrillic, Armenian and Georgian. Chinese, Japanese, Korean and Ethiopic need a font in \`documents.fonts\`: paths of TTF, OTF or WOFF files, no collections (TTC), separated by commas, as in \`--documents-fonts /usr/share/fonts/opentype/ipafont-gothic/ipag.ttf\`. Descriptions and refusals then name what the node prints. Scripts from right to left or with joined letters cannot be printed with any font.

## What is kept

What depends on request and head alone is worked out once for each head. Texts of pages are kept for a minute, feeds for five, metadata and mail domains for ten, unless the page forbids it. Answers of providers count as new for: prices 20 s, gas and balances 6 s, names of ENS 5 min, searches 1 min, weather 10 min, registrations and translations an hour, exchange rates until the next are published; and while no provider can be asked they are given, marked \`stale\`, up to: prices 5 min, gas and balances 30 s, names 30 min, weather 2 hours, registrations 6 hours, exchange rates 5 days. Documents, texts, chat and pictures are made anew for each call. A call that is repeated with its payment always has the same result.

## All services`
