import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchAdmission } from './admission.ts'
import { benchBigState } from './big-state.ts'
import { benchChatAbort, benchChatFirstByte, benchChatStreams } from './chat.ts'
import { benchChatRouter } from './chat-router.ts'
import { benchDisk } from './disk.ts'
import { benchDocuments } from './documents.ts'
import { benchEdges } from './edges.ts'
import { benchEventLoop } from './event-loop.ts'
import { benchHolders } from './holders.ts'
import { benchHostileInputs } from './hostile-inputs.ts'
import { benchHttpAdmission } from './http-admission.ts'
import { benchImport } from './import.ts'
import { benchInboundFlood } from './inbound-flood.ts'
import { benchKinds } from './kinds.ts'
import { benchLongRun } from './long-run.ts'
import { benchMining } from './mining.ts'
import { benchNetworkBlocks } from './network-blocks.ts'
import { benchNetworkHeaders } from './network-headers.ts'
import { benchNetworkLine } from './network-line.ts'
import { benchNetworkSnapshot } from './network-snapshot.ts'
import { benchNetworkSustained } from './network-sustained.ts'
import { benchNetworkSync } from './network-sync.ts'
import { benchPages } from './pages.ts'
import { benchQuotes } from './quotes.ts'
import { type BenchRow, printTable } from './report.ts'
import { benchServedRequests } from './served-requests.ts'
import { benchSoak } from './soak.ts'
import { benchStaleRate } from './stale-rate.ts'
import { benchStartup } from './startup.ts'
import { benchStateProof } from './state-proof.ts'
import { benchTabs } from './tabs.ts'
import { benchVoice } from './voice.ts'
import { benchWorstBlock, type WorstOptions } from './worst-block.ts'

/** Benchmarks by the names that choose them: `npm run bench -- import quotes`. */
const BENCHMARKS: Readonly<Record<string, (options: WorstOptions) => Promise<readonly BenchRow[]>>> = {
  import: benchImport,
  voice: benchVoice,
  admission: benchAdmission,
  http: benchHttpAdmission,
  quotes: benchQuotes,
  edges: benchEdges,
  loop: benchEventLoop,
  hostile: benchHostileInputs,
  mining: benchMining,
  holders: benchHolders,
  state: benchBigState,
  kinds: benchKinds,
  long: benchLongRun,
  disk: benchDisk,
  documents: benchDocuments,
  'stale-rate': benchStaleRate,
  startup: benchStartup,
  'network-line': benchNetworkLine,
  'block-relay': benchNetworkBlocks,
  sync: benchNetworkSync,
  'header-sync': benchNetworkHeaders,
  'served-requests': benchServedRequests,
  'inbound-flood': benchInboundFlood,
  'snapshot-sync': benchNetworkSnapshot,
  'state-proof': benchStateProof,
  sustained: benchNetworkSustained,
  soak: benchSoak,
  tabs: benchTabs,
  pages: benchPages,
  'chat-first-byte': benchChatFirstByte,
  'chat-streams': benchChatStreams,
  'chat-abort': benchChatAbort,
  'chat-router': benchChatRouter,
  'worst-block': benchWorstBlock,
}

/** The benchmark that takes an hour. It runs only if it is named. */
const LONG = 'soak'

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    accounts: { type: 'string', default: '1000000' },
    record: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHMARKS, name))
if (unknown.length > 0)
  throw new Error(`no benchmark ${unknown.join(', ')}; there are: ${Object.keys(BENCHMARKS).join(', ')}`)
process.stdout.write(`Node ${process.versions.node}, ${availableParallelism()} cores, ${cpus()[0]?.model}\n`)
const rows: BenchRow[] = []
for (const [name, bench] of Object.entries(BENCHMARKS)) {
  if (wanted.length > 0 ? !wanted.includes(name) : name === LONG) continue
  process.stdout.write(`running ${name}\n`)
  rows.push(...(await bench({ ...values, accounts: Number(values.accounts), rounds: Number(values.rounds) })))
}
printTable(rows)
