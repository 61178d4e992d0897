import { isHex } from '../../consensus/primitives/bytes.ts'
import { TOKEN_SYMBOL } from '../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { POOL_NAME } from '../facts/pools.ts'

/**
 * What a request is about where it may be any context, or name something. `sure`: it is written as a name is, so a name that
 * nothing has is refused. Any other single word counts as a name if something has it, and else as context.
 */
export interface ContextName {
  readonly name: string | null
  readonly sure: boolean
}

const CONTEXT: ContextName = { name: null, sure: false }

/** Reads a request that may name a token, or a pool by name or id. */
export function parseContextName(request: string): Result<ContextName> {
  const text = request.trim()
  const id = text.toLowerCase().replace(/^0x/, '')
  if (isHex(id, 32)) return ok({ name: id, sure: true })
  const name = text.toUpperCase()
  if (POOL_NAME.test(name)) return ok({ name, sure: true })
  return ok(TOKEN_SYMBOL.test(name) ? { name, sure: name === text } : CONTEXT)
}
