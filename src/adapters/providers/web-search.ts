import type { ProviderChoice } from '../../../config/outside-settings.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { SearchHit } from '../../../marketplace/ports/providers.ts'
import type { ProviderKeys } from '../provider-keys.ts'
import { brave } from './brave.ts'
import type { Provider } from './provider.ts'
import { ProviderChain } from './provider-chain.ts'
import { searxng } from './searxng.ts'
import { unusable } from './unusable.ts'

/** What web search needs. */
export interface WebSearchDependencies {
  readonly choices: readonly ProviderChoice[]
  readonly keys: ProviderKeys
  readonly clock: Clock
  readonly timers: Timers
}

const WHAT = 'web search'
/** Also the maximum age, so no stale answer is served. */
const FRESH_MS = 60_000

/** The operator's web search providers as one chain. */
export function webSearch(parts: WebSearchDependencies): ProviderChain<string, readonly SearchHit[]> {
  const { choices, clock, timers } = parts
  return new ProviderChain({
    what: WHAT,
    requires: ['providers.search'],
    providers: choices.map((choice) => providerOf(choice, parts)),
    keyOf: (query) => query,
    freshMs: FRESH_MS,
    staleMs: FRESH_MS,
    clock,
    timers,
  })
}

function providerOf(
  { name, url }: ProviderChoice,
  parts: WebSearchDependencies,
): Provider<string, readonly SearchHit[]> {
  if (name === 'searxng') {
    return url === null
      ? unusable(name, WHAT, 'it needs its address: providers.search searxng=https://...')
      : searxng(url)
  }
  const key = parts.keys.of(name)
  return key === null
    ? unusable(name, WHAT, `it needs a key: "${name}" in providers.keys-file`)
    : brave({ url, key, clock: parts.clock })
}
