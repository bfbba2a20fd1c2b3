-- Renews the lease of a process or begins one, and returns its number. KEYS: boots.
-- ARGV: boot, number of the lease that it had, milliseconds of the lease.
return (renew(ARGV[1], redis.call('HGET', KEYS[1], ARGV[1]), ARGV[2], ARGV[3], ''))
