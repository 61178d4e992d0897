import { decodeBlock } from '../../../consensus/block/block.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { exportBlocks, readBlocks } from '../../storage/block-file.ts'
import type { Command, CommandContext } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { openOffline } from '../offline.ts'

/** `farthing export`: writes the best chain to a file. */
export const exportCommand: Command = {
  name: 'export',
  usage: '<file>',
  wordsMax: 1,
  about: 'Write the blocks of the best chain to a file; the node must be stopped',
  flags: { from: 'First height; default 1', to: 'Last height; default the head' },
  run: async (context) => {
    const path = context.words[0]
    if (path === undefined) return fault('cli/usage', { reason: 'usage: farthing export <file>' })
    const opened = await openOffline(context, false)
    if (!opened.ok) return opened.fault
    const { chain, close } = opened.value
    const range = heightRange(context, chain)
    const written = range === null ? null : await exportBlocks(chain, path, range)
    await close()
    if (written === null)
      return fault('cli/usage', { reason: '--from and --to are heights of the chain, --from not above --to' })
    if (!written.ok) return written.fault
    context.print(`${written.value} blocks written to ${path}`)
    return EXIT.ok
  },
}

function heightRange(
  { flags }: CommandContext,
  { head }: Chain,
): { readonly from: number; readonly to: number } | null {
  const { height } = head.header
  const from = Number(flags.from ?? 1)
  const to = Number(flags.to ?? height)
  const whole = Number.isInteger(from) && Number.isInteger(to)
  return whole && from >= 1 && to <= height && from <= to + 1 ? { from, to } : null
}

/** `farthing import`: validates the blocks of a file and adds them. */
export const importCommand: Command = {
  name: 'import',
  usage: '<file>',
  wordsMax: 1,
  about: 'Validate the blocks of a file and add them; the node must be stopped',
  flags: {},
  run: async (context) => {
    const path = context.words[0]
    if (path === undefined) return fault('cli/usage', { reason: 'usage: farthing import <file>' })
    const opened = await openOffline(context, true)
    if (!opened.ok) return opened.fault
    const { chain, close } = opened.value
    const outcome = await importFile(chain, path)
    const { header, id } = chain.head
    await close()
    const { added, refusal } = outcome
    if (refusal !== null && added > 0) context.note(`${added} blocks were added before; height ${header.height}`)
    if (refusal !== null) return refusal
    context.print(`${added} blocks added; height ${header.height}, block ${id}, state root ${header.stateRoot}`)
    return EXIT.ok
  },
}

/** Number of blocks added, and why the block after them was refused; null if none was. */
interface Imported {
  readonly added: number
  readonly refusal: Fault | null
}

async function importFile(chain: Chain, path: string): Promise<Imported> {
  let added = 0
  for await (const bytes of readBlocks(path, chain.network.genesis)) {
    const block = bytes.ok ? decodeBlock(bytes.value) : bytes
    if (!block.ok) return { added, refusal: block.fault }
    const outcome = await chain.import(block.value)
    if (outcome.ok) added += 1
    else if (outcome.fault.code !== 'chain/known-block') {
      const reason = `block ${block.value.header.height} of ${path} is refused: ${faultMessage(outcome.fault)}`
      return { added, refusal: fault('cli/usage', { reason }) }
    }
  }
  return { added, refusal: null }
}
