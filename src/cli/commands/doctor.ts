import type { ProviderCheck } from '../../adapters/providers/provider.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { nodeHint } from '../place.ts'
import { tableOf } from '../reading.ts'

/** `farthing doctor providers`: sends each configured provider the cheapest question that shows whether it works. */
export const doctorProvidersCommand: Command = {
  name: 'doctor providers',
  usage: '',
  wordsMax: 0,
  about: 'Check every configured provider, model and database of the services',
  example: 'doctor providers',
  isNode: true,
  flags: { json: 'Print JSON' },
  run: async (context) => {
    const { config, flags, print, printJson, note } = context
    const { checkProviders } = await import('../provider-checks.ts')
    const checked = await checkProviders(config)
    if (!checked.ok) return checked.fault
    const checks = checked.value
    if (flags.json !== undefined) printJson(checks)
    else for (const line of tableOf([['FOR', 'WHO', 'STATE', 'MS', 'DETAIL'], ...checks.map(rowOf)])) print(line)
    if (checks.length === 0)
      note(`No provider is configured; what each service needs is told by: ${nodeHint(context, 'services')}`)
    return checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed
  },
}

function rowOf({ what, name, ok, doubtful, ms, detail }: ProviderCheck): readonly string[] {
  return [what, name, doubtful === true ? 'warn' : ok ? 'ok' : 'ill', String(Math.round(ms)), detail]
}
