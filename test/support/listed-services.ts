import type { ServiceDefinition } from '../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'

/** Whether a service reads the node's own chain: then its results name the engine `chain`. */
export function isOfChain({ sample }: ServiceDefinition): boolean {
  return (sample as { readonly engine?: string }).engine === 'chain'
}

/** Services that read the node's own chain. */
export const CHAIN_SERVICES = SERVICE_TABLE.filter(isOfChain)
/** Services that make a document. */
export const DOCUMENT_SERVICES = SERVICE_TABLE.filter((one) => one.capability === 'reports' && !isOfChain(one))
