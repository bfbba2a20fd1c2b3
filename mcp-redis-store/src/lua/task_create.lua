-- Keeps a new task. KEYS: task. ARGV: record, version, boot, time to keep it or nothing, owner or nothing.
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'v', LAYOUT, 'd', ARGV[1], 'n', ARGV[2], 'b', ARGV[3])
if ARGV[4] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
if ARGV[5] then redis.call('HSET', KEYS[1], 'o', ARGV[5]) end
return 1
