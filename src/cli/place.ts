import { SETTINGS } from '../../config/settings.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { CommandContext } from './command.ts'

/** Words that a shell takes as they are. */
const PLAIN_WORD = /^[\w./:@%+=,-]+$/

/**
 * Flags that have another command work on the same network and in the same folder as this one, each with a space before it; empty
 * where both are the defaults.
 */
export function placeFlags({ config, resolution }: Pick<CommandContext, 'config' | 'resolution'>): string {
  const network = config.network === SETTINGS.network.default ? '' : ` --network ${config.network}`
  return resolution['data-dir'].origin === 'default' ? network : `${network} --data-dir ${shellWord(config.dataDir)}`
}

/** A fault whose message advises a command: that it is run in the same place. Others stay as they are. */
export function withPlace(cause: Fault, context: Pick<CommandContext, 'config' | 'resolution'>): Fault {
  if (cause.code !== 'wallet/missing') return cause
  return fault(cause.code, { ...cause.detail, flags: placeFlags(context) })
}

function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
