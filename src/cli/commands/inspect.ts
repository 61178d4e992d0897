import { flagOf, shownValue } from '../../../config/load.ts'
import { type Resolved, SETTINGS, type SettingName } from '../../../config/settings.ts'
import { ok } from '../../../consensus/primitives/result.ts'
import { blockLines } from '../block-text.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { readingCommand, tableOf } from '../reading.ts'
import { transactionLines } from '../transaction-text.ts'
import { readId, usage } from '../values.ts'

const BLOCK = /^(latest|[0-9]{1,10}|[0-9a-f]{64})$/

/** `farthing tx`: a transaction and its outcome. */
export const txCommand = readingCommand({
  name: 'tx',
  usage: '<id>',
  wordsMax: 1,
  about: 'Show a transaction and what came of it; --json adds receipt and proofs',
  flags: {},
  path: ({ words: [id] }) => {
    const txId = id === undefined ? usage('usage: farthing tx <id>') : readId('transaction', id)
    return txId.ok ? ok(`/tx/${txId.value}`) : txId
  },
  lines: transactionLines,
})

/** `farthing block`: a block. */
export const blockCommand = readingCommand({
  name: 'block',
  usage: '<height|id|latest>',
  wordsMax: 1,
  about: 'Show a block and its transactions',
  example: 'block latest',
  flags: {},
  path: ({ words: [id] }) => {
    if (id === undefined) return usage('usage: farthing block <height|id|latest>')
    if (BLOCK.test(id)) return ok(`/blocks/${id}`)
    return usage(`"${id.slice(0, 70)}" is no block: a height, an id of 64 hex digits, or latest`)
  },
  lines: blockLines,
})

/** `farthing config print`: every setting with its value and origin. */
export const configPrintCommand: Command = {
  name: 'config print',
  usage: '',
  wordsMax: 0,
  about: 'Show every setting, its value and where it came from',
  isNode: true,
  flags: { json: 'Print JSON' },
  run: async ({ resolution, flags, print, printJson }) => {
    const names = Object.keys(SETTINGS) as SettingName[]
    const shown = Object.fromEntries(names.map((name) => [name, shownOf(name, resolution[name])]))
    if (flags.json !== undefined) printJson(shown)
    else {
      const rows = names.map((name) => {
        const { value, origin } = shown[name] as Resolved
        return [name, value ?? '(unset)', origin, flagOf(name)]
      })
      for (const line of tableOf(rows)) print(line)
    }
    return EXIT.ok
  },
}

function shownOf(name: SettingName, resolved: Resolved): Resolved {
  return resolved.value === null ? resolved : { ...resolved, value: shownValue(name, resolved) }
}
