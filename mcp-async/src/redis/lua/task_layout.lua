local LAYOUT = '2'
