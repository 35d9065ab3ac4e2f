/** Thrown when a source ends before its announced length without a defect: the client requests the rest again. */
export class EndedEarly extends Error {}
