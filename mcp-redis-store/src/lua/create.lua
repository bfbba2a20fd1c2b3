-- Makes the record of a session. KEYS: session. ARGV: record, time to keep it, process, number of its lease.
-- A removal would let what follows write although the store is full.
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'v', LAYOUT, 'r', ARGV[1], 'k', ARGV[2], 'e', 0, 'p', ARGV[3], 'n', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'ok'
