import { flagOf, shownValue } from '../../../config/load.ts'
import { type Resolved, SETTINGS, type SettingName } from '../../../config/settings.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { type Command, nodeUrl, RPC_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { tableOf } from '../reading.ts'

/** Prints one document of the node as JSON. */
function documentCommand(name: string, usage: string, about: string, path: (word: string) => string): Command {
  return {
    name,
    usage,
    wordsMax: 1,
    about,
    flags: RPC_FLAG,
    run: async (context) => {
      const [word, ...rest] = context.words
      if (word === undefined || rest.length > 0)
        return fault('cli/usage', { reason: `usage: farthing ${name} ${usage}` })
      const document = await new NodeClient(nodeUrl(context)).document(path(encodeURIComponent(word)))
      if (!document.ok) return document.fault
      context.printJson(document.value, 2)
      return EXIT.ok
    },
  }
}

/** `farthing tx`: a transaction with receipt and proofs. */
export const txCommand = documentCommand(
  'tx',
  '<id>',
  'Show a transaction with its receipt and proofs',
  (id) => `/api/v1/tx/${id}`,
)

/** `farthing block`: a block. */
export const blockCommand = documentCommand(
  'block',
  '<height|id|latest>',
  'Show a block',
  (id) => `/api/v1/blocks/${id}`,
)

/** `farthing config print`: every setting with its value and where it came from. */
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
