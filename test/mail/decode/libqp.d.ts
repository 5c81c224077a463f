// The parts of libqp (no types of its own) that tests compare with.
declare module 'libqp' {
  const libqp: { encode(octets: Buffer): string; wrap(text: string): string; decode(octets: Buffer): Buffer };
  export default libqp;
}
