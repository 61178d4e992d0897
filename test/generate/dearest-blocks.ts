import recorded from '../bench/worst-block.json' with { type: 'json' }
import type { WorstFigure } from '../bench/worst-block.ts'

const { accounts, figures }: { readonly accounts: number; readonly figures: readonly WorstFigure[] } = recorded

const HEAD = `## Dearest blocks

The cost of executing a full block: for each kind of transaction, the most expensive of ${figures.length} ways that were tried.

- Measured on a LevelDB state of ${accounts.toLocaleString('en')} accounts with cold caches: \`npm run bench -- worst-block --record\`. The times are those of one machine.
- The last two columns hold on others too: processor time per unit of weight, above an empty block, as a multiple of that of
  transfers; first of all threads, then of the main thread alone.
- A weight is changed if the first of them is above 2.
- Receipts of 256 calls are the most expensive on the main thread; the limit on declared writes keeps them to two fifths of a block's weight.

| kind | the block holds | transactions | processor, ms | main thread, ms | to take back, ms | times a transfer | on the main thread |
|---|---|--:|--:|--:|--:|--:|--:|
`

/** The section of docs/limits.md about the cost of kinds, the costliest first. */
export function dearestBlocks(): string {
  const byCost = figures.toSorted((a, b) => b.dearer - a.dearer)
  const dearest = byCost.filter(({ kind }, i) => byCost.findIndex((other) => other.kind === kind) === i)
  const lines = dearest.map(
    ({ kind, what, transactions, cpuMs, mainMs, undoMs, dearer, mainDearer }) =>
      `| ${kind} | ${what} | ${transactions} | ${cpuMs} | ${mainMs} | ${undoMs} | ${dearer.toFixed(2)} | ${mainDearer.toFixed(2)} |`,
  )
  return `${HEAD}${lines.join('\n')}\n`
}
