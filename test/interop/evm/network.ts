/** Chain id of Base's test network: clients of generation 1 know networks by name and sign with the id that they know for it. */
export const CHAIN_ID = 84_532
