import type { ChainReader } from '../../consensus/chain/reader.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { TOKEN_SYMBOL } from '../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { MAJORS } from '../ports/crypto-prices.ts'
import { coinOf } from '../queries/assets.ts'
import { bridgeNetworks } from '../queries/collateral.ts'
import { POOL_NAME } from '../queries/pools.ts'
import type { ServiceContext } from './context.ts'
import { namedOn } from './named.ts'
import { CONTEXT_CHARS_MAX, isBlank, type RequestForm, refusal, unusable } from './requests.ts'

/**
 * `sure`: only names have the form of this text, so it counts as a name even if nothing has that name. Any other single
 * word counts only if something has it.
 */
interface ContextName {
  readonly name: string | null
  readonly sure: boolean
}

const CONTEXT: ContextName = { name: null, sure: false }
/** The beginning of JSON, which a caller expects to be read. */
const STRUCTURED = /^(?:\{|\[\s*["{\d])/
/** A single ASCII word. A sentence in any language has more, or other characters. */
const WORD = /^[!-~]{1,100}$/
/** Forms that only names have: capitals, a number, or a string too long for a word (an address or id). */
const WRITTEN_AS_NAME = /^(?:[A-Z][A-Z0-9]+(?:[-_/.][A-Z0-9]+)*|[0-9]+(?:\.[0-9]+)?|[A-Za-z0-9]{25,})$/

/** The name in an optional context: an id in lower case, any other single word in upper case; null if there is none. */
export function parseContextName(request: string, form: RequestForm): Result<string | null> {
  const text = request.trim()
  if (STRUCTURED.test(text) && !isBlank(text)) return unusable('the request is a name alone, not JSON', form)
  return ok(isBlank(text) || !WORD.test(text) ? null : (idIn(text) ?? text.toUpperCase()))
}

function parseContext(request: string): Result<ContextName> {
  const text = request.trim()
  if (isBlank(text)) return ok(CONTEXT)
  if (STRUCTURED.test(text)) return unusable(noRequest('reads no JSON'), NO_FORM)
  const id = idIn(text)
  if (id !== undefined) return ok({ name: id, sure: true })
  const name = text.toUpperCase()
  const sure = WORD.test(text) && (WRITTEN_AS_NAME.test(text) || POOL_NAME.test(name))
  return ok(sure || TOKEN_SYMBOL.test(name) ? { name, sure } : CONTEXT)
}

function idIn(text: string): string | undefined {
  const id = text.toLowerCase().replace(/^0x/, '')
  return isHex(id, 32) ? id : undefined
}

function noRequest(so: string): string {
  return `this service takes no request and ${so}: leave the request empty`
}

const NO_FORM: RequestForm = { requestFormat: '', example: '' }

/**
 * For a service that gives every caller the same result. A name that the result does not cover is refused, so that no
 * caller pays for an answer to another question. The native coin and the names in `told` are always covered.
 */
export function optionalContext(told: readonly string[] = []) {
  return {
    ...NO_FORM,
    requestCharsMax: CONTEXT_CHARS_MAX,
    parse: parseContext,
    check: ({ name, sure }: ContextName, { chain }: ServiceContext): Fault | null => {
      if (name === null || name === coinOf(chain).symbol || told.includes(name)) return null
      return sure || isKnown(chain, name) ? refusal(noRequest(`tells nothing of ${name} alone`), NO_FORM) : null
    },
  }
}

/** The name of a token, pool, network or major coin: the caller most likely wants to know about it. */
function isKnown(chain: ChainReader, name: string): boolean {
  const networks = bridgeNetworks(chain).map(({ rules }) => rules.key.toUpperCase())
  return namedOn(chain, name) !== undefined || [...networks, ...MAJORS].includes(name)
}
