-- Makes the record of a session. KEYS: session, removed. ARGV: record, time to keep it.
if redis.call('EXISTS', KEYS[2]) == 1 then return 'gone' end
redis.call('HSET', KEYS[1], 'r', ARGV[1], 'e', 0, 'k', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'ok'
