import recorded from '../bench/worst-block.json' with { type: 'json' }
import type { WorstFigure } from '../bench/worst-block.ts'

const { accounts, figures }: { readonly accounts: number; readonly figures: readonly WorstFigure[] } = recorded

const HEAD = `## Dearest blocks

What it takes to execute a full block, for each kind the dearest way to fill it of ${figures.length} that were tried, on a LevelDB state of
${accounts.toLocaleString('en')} accounts of which nothing was read before: \`npm run bench -- worst-block --record\`. Times are those of the machine that
measured them. The last two columns hold on others too: processor time for each unit of weight, above an empty block, in that of
transfers; of all threads, and of the main thread alone. Weights are changed where the former is above 2. The limit on declared
writes keeps receipts of 256 calls, which are dearest there, to two fifths of a block's weight.

| kind | the block holds | transactions | processor, ms | main thread, ms | to take back, ms | times a transfer | on the main thread |
|---|---|--:|--:|--:|--:|--:|--:|
`

/** The section of docs/limits.md about what the kinds cost, the dearest first. */
export function dearestBlocks(): string {
  const byCost = figures.toSorted((a, b) => b.dearer - a.dearer)
  const dearest = byCost.filter(({ kind }, i) => byCost.findIndex((other) => other.kind === kind) === i)
  const lines = dearest.map(
    ({ kind, what, transactions, cpuMs, mainMs, undoMs, dearer, mainDearer }) =>
      `| ${kind} | ${what} | ${transactions} | ${cpuMs} | ${mainMs} | ${undoMs} | ${dearer.toFixed(2)} | ${mainDearer.toFixed(2)} |`,
  )
  return `${HEAD}${lines.join('\n')}\n`
}
